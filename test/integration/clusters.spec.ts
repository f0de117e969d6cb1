import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it, onTestFinished } from 'vitest';
import { drop, fixed, retry, type Settlement } from '../../lib';
import { startApp } from '../support/app';
import { Broker, openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openCluster, partitionOff } from '../support/other-server';
import { openProxy } from '../support/proxied';
import { fromClient } from '../support/proxy';

const RECONNECTS = { reconnectTimeInSeconds: 0.2 };

describe('a cluster', { timeout: 90_000 }, async () => {
  // The third one makes a majority where another one stops.
  const nodes = await openCluster();
  const [one, two] = nodes;
  if (one === undefined || two === undefined) throw new Error('a cluster has several nodes');

  /** A handler that retries the first attempt of each message, and acknowledges the second. */
  function retryingHandler(queue: string) {
    const runs: string[] = [];
    const Handler = handlerOf({ queue, retry: { attempts: 2 } }, (id: string, { attempt }) => {
      runs.push(`${id} ${attempt}`);
      return attempt === 1 ? retry() : undefined;
    });
    return { runs, Handler };
  }

  const sent = ({ status }: Settlement): boolean => status === 'sent';

  it('messages are republished through another node if the consuming one takes no connection', async () => {
    const queue = unique('full');
    const [first, second] = [await openProxy(one.url), await openProxy(two.url)];
    const { runs, Handler } = retryingHandler(queue);
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: [first.url, second.url], connectionManagerOptions: RECONNECTS },
    });
    expect(first.connectionCount).toBe(1);
    first.refuse(true);
    await one.broker.send(queue, 'a');
    await until(() => app.settlements.filter(sent).length === 2);
    expect(runs).toEqual(['a 1', 'a 2']);
    expect(second.count('client', 'basic.publish')).toBe(1);
    expect(app.log.matching(/./, ['error'])).toEqual([]);
  });

  it('the second connection follows to another node, and nothing is lost when a node stops', async () => {
    const queue = unique('stopped');
    const second = await openProxy(two.url);
    await two.broker.declare(queue); // It lives on that node.
    const { runs, Handler } = retryingHandler(queue);
    const app = await startApp({
      providers: [Handler],
      rabbit: { uri: [one.url, second.url], connectionManagerOptions: RECONNECTS },
    });
    await two.broker.send(queue, 'a', { persistent: true });
    await until(() => app.settlements.filter(sent).length === 2);
    expect(second.connectionCount).toBe(0);
    onTestFinished(() => one.management.startNode());
    await one.management.stopNode();
    await two.broker.send(queue, 'b', { persistent: true });
    await until(() => app.settlements.filter(sent).length === 4, { timeoutMs: 30_000 });
    expect(runs).toEqual(['a 1', 'a 2', 'b 1', 'b 2']);
    expect(second.count('client', 'basic.publish')).toBe(1);
    expect(app.app.get(AmqpConnection).connected).toBe(true);
  });

  it('nothing is lost or published elsewhere while the consuming node is partitioned off', async () => {
    const queue = unique('partitioned');
    const [first, second] = [await openProxy(one.url), await openProxy(two.url)];
    const virtualHost = unique('elsewhere');
    await one.management.addVirtualHost(virtualHost);
    // Another cluster, that of the test run.
    const [other, otherProxy] = [await openBroker(), await openProxy()];
    const handle = new Gate();
    const running: string[] = [];
    const Handler = handlerOf(
      { queue, queueType: 'quorum', deadLetter: `${queue}.dead` },
      async (id: string) => {
        running.push(id);
        if (id === 'b') await handle.promise;
        return drop();
      },
    );
    const app = await startApp({
      providers: [Handler],
      rabbit: {
        uri: [second.url, first.url, `${first.url}/${virtualHost}`, otherProxy.url],
        connectionManagerOptions: RECONNECTS,
      },
      settle: { republishTimeout: '3s' },
    });
    await two.broker.send(queue, 'a', { persistent: true });
    await app.settled(1);
    await two.broker.send(queue, 'b', { persistent: true });
    await until(() => running.includes('b'));
    const endPartition = await partitionOff(two, nodes);
    // The second connection is lost as well, and has to look for its broker while it is divided.
    second.refuse(true);
    second.cutWhen(fromClient('basic.publish'), { before: true });
    handle.open();
    await app.settled(2, 30_000);
    await endPartition();
    second.refuse(false);
    const dead = new Set<unknown>();
    await until(
      async () => {
        const broker = await Broker.connect(one.url);
        const message = await broker.take(`${queue}.dead`).finally(() => broker.close());
        return dead.add(JSON.parse(message.content.toString())).size === 2;
      },
      { timeoutMs: 30_000 },
    );
    expect([...dead].sort()).toEqual(['a', 'b']);
    expect(otherProxy.count('client', 'basic.publish')).toBe(0);
    expect(await other.ready(`${queue}.dead`)).toBeUndefined();
    expect(await one.management.queues(virtualHost)).toEqual([]);
  });

  it('a waiting queue on a node that is down does not stop the subscription', async () => {
    const queue = unique('down');
    const waiting = `${queue}.wait.777`;
    const deadLetter = { deadLetterExchange: '', deadLetterRoutingKey: queue };
    const broker = await Broker.connect(one.url);
    onTestFinished(() => broker.close());
    await broker.declare(queue);
    // Another test has restarted the node, which closed the connection that it began with.
    const there = await Broker.connect(two.url);
    await there.declare(waiting, { messageTtl: 777, ...deadLetter });
    await there.close();
    onTestFinished(() => two.management.startNode());
    await two.management.stopNode();
    const ran: string[] = [];
    const Handler = handlerOf(
      { queue, retry: { attempts: 2, backoff: fixed(777) } },
      (id: string) => void ran.push(id),
    );
    const { log } = await startApp({ providers: [Handler], rabbit: { uri: one.url } });
    await broker.send(queue, 'a');
    await until(() => ran.length === 1);
    expect(log.matching(/waiting/, ['warn', 'error'])).toEqual([
      expect.stringMatching(/\[waiting-queue-unavailable\] waiting queue "down.*is unavailable/),
    ]);
  });
});
