import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { Balancer } from '../support/balancer';
import { Broker, management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openOtherServer } from '../support/other-server';
import { openProxy } from '../support/proxied';

const RECONNECTS = { reconnectTimeInSeconds: 0.2 };

/** A handler that delays its first attempt and fails the second, for the dead-letter queue. */
function retryingHandler(queue: string) {
  const attempts: number[] = [];
  const Handler = handlerOf(
    { queue, retry: { attempts: 2 }, deadLetter: `${queue}.dead` },
    (_payload, { attempt }) => {
      attempts.push(attempt);
      return retryAfter(50);
    },
  );
  return { attempts, Handler };
}

describe('two brokers that are no cluster', async () => {
  const first = await openBroker();
  const other = await openOtherServer();

  it('messages are republished to the broker that delivered them, not to the first URI', async () => {
    const queue = unique('origin');
    const proxy = await openProxy();
    proxy.refuse(true);
    const { attempts, Handler } = retryingHandler(queue);
    await startApp({
      providers: [Handler],
      rabbit: { uri: [proxy.url, other.url], connectionManagerOptions: RECONNECTS },
    });
    proxy.refuse(false);
    await other.broker.send(queue, {});
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2]);
    expect(await other.broker.ready(queue)).toBe(0);
    // The first broker was never asked to publish or declare anything.
    expect(proxy.connectionCount).toBe(0);
    expect(await first.ready(`${queue}.dead`)).toBeUndefined();
  });

  it('the second connection follows when the consuming one moves to the other broker', async () => {
    const queue = unique('moves');
    const { attempts, Handler } = retryingHandler(queue);
    const { app } = await startApp({
      providers: [Handler],
      rabbit: { uri: [url, other.url], connectionManagerOptions: RECONNECTS },
    });
    await first.send(queue, {});
    await first.waitForReady(`${queue}.dead`, 1);
    app.get(AmqpConnection).managedConnection.reconnect();
    await until(async () => (await other.broker.ready(queue)) !== undefined);
    await other.broker.send(queue, {});
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2, 1, 2]);
    expect(await first.ready(`${queue}.dead`)).toBe(1);
  });

  it('servers found by findServers are told apart in the same way', async () => {
    const queue = unique('found');
    const proxy = await openProxy();
    proxy.refuse(true);
    const { attempts, Handler } = retryingHandler(queue);
    await startApp({
      providers: [Handler],
      rabbit: {
        uri: [],
        connectionManagerOptions: {
          ...RECONNECTS,
          findServers: async () => [proxy.url, other.url],
        },
      },
    });
    proxy.refuse(false);
    await other.broker.send(queue, {});
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2]);
    expect(proxy.connectionCount).toBe(0);
  });

  it('behind a balancer that leads to the wrong one first, the right one is found', async () => {
    const queue = unique('balanced');
    const targets = [other.url, url, url];
    const balancer = await Balancer.start(() => targets.shift() ?? other.url);
    const { attempts, Handler } = retryingHandler(queue);
    await startApp({ providers: [Handler], rabbit: { uri: balancer.urlFor(url) } });
    await other.broker.send(queue, {});
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2]);
    expect(targets).toEqual([]);
    expect(await first.ready(`${queue}.dead`)).toBeUndefined();
  });

  it('of the same name, they are told apart all the same', async () => {
    const queue = unique('namesakes');
    await other.management.ctl('set_cluster_name', 'one');
    await management.ctl('set_cluster_name', 'one');
    onTestFinished(async () => {
      await management.ctl('clear_global_parameter', 'cluster_name');
    });
    const targets = [other.url, url];
    const balancer = await Balancer.start(() => targets.shift() ?? other.url);
    const { attempts, Handler } = retryingHandler(queue);
    await startApp({ providers: [Handler], rabbit: { uri: balancer.urlFor(url) } });
    await other.broker.send(queue, {});
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2]);
    expect(targets).toEqual([]);
  });

  it('nothing is published while only the other one can be reached, and a line says so', async () => {
    const queue = unique('unreachable');
    let target = other.url;
    const balancer = await Balancer.start(() => target);
    const { attempts, Handler } = retryingHandler(queue);
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: balancer.urlFor(url) },
      settle: { republishTimeout: '1.5s' },
    });
    target = url;
    await other.broker.send(queue, {});
    await until(() => app.settlements.some(({ status }) => status === 'republishFailed'));
    const [line] = app.log.matching(/\[republish-failed\]/, ['error']);
    expect(line).toMatch(/leads to another broker \(cluster ".+"\) than .+ \(cluster ".+"\)/);
    expect(line).not.toContain('guest');
    expect(new Set(attempts)).toEqual(new Set([1]));
    expect(await first.ready(`${queue}.wait.52`)).toBeUndefined();
    expect(await first.ready(`${queue}.dead`)).toBeUndefined();
    target = other.url;
    await other.broker.waitForReady(`${queue}.dead`, 1);
    expect(attempts.at(-1)).toBe(2);
  });
});

describe('two virtual hosts of one broker', async () => {
  const [one, two] = [unique('one'), unique('two')];
  const uris = [one, two].map((name) => `${url.replace(/\/$/, '')}/${name}`);
  await management.addVirtualHost(two);
  const second = await Broker.connect(uris[1]);
  afterAll(async () => {
    await second.close();
    for (const name of [one, two]) await management.deleteVirtualHost(name);
  });

  it('messages are republished to the one that delivered them', async () => {
    const queue = unique('vhost');
    const { attempts, Handler } = retryingHandler(queue);
    await startApp({
      providers: [Handler],
      rabbit: { uri: uris, connectionManagerOptions: RECONNECTS },
    });
    await management.addVirtualHost(one);
    await second.send(queue, {});
    await second.waitForReady(`${queue}.dead`, 1);
    expect(attempts).toEqual([1, 2]);
    expect(await management.queues(one)).toEqual([]);
  });
});

it('a login that may not declare a queue for the comparison republishes all the same', async () => {
  const broker = await openBroker();
  const queue = unique('restricted');
  const login = unique('login');
  await management.addUser(login, 'secret');
  onTestFinished(async () => {
    await management.deleteUser(login);
  });
  await management.setPermissions(login, { configure: `^${queue}` });
  const uri = url.replace('guest:guest', `${login}:secret`);
  const { attempts, Handler } = retryingHandler(queue);
  await startApp({ providers: [Handler], rabbit: { uri } });
  await broker.send(queue, {});
  await broker.waitForReady(`${queue}.dead`, 1);
  expect(attempts).toEqual([1, 2]);
});
