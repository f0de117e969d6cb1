import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { SettleStartupError } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { type AmqpProxy, fromClient } from '../support/proxy';

const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined };

/** A second connection besides the default one of the application under test. */
function connectionTo(uri: string, name: string) {
  return RabbitMQModule.forRoot({
    uri,
    name,
    logger: SILENT as never,
    connectionManagerOptions: { reconnectTimeInSeconds: 0.3 },
  });
}

describe('an application with two connections', async () => {
  const broker = await openBroker();

  it('consumes, settles and republishes each subscription on its own connection', async () => {
    const [first, second] = [await openProxy(), await openProxy()];
    const queues = { first: unique('first'), second: unique('second') };
    const names = { first: unique('one'), second: unique('two') };
    const own = (which: 'first' | 'second') =>
      handlerOf(
        {
          queue: queues[which],
          connection: names[which],
          retry: { attempts: 2 },
          deadLetter: `${queues[which]}.dead`,
          onError: 'retry',
        },
        () => {
          throw new Error('bad one');
        },
      );
    await startApp({
      providers: [own('first'), own('second')],
      imports: [connectionTo(second.url, names.second)],
      rabbit: { uri: first.url, name: names.first },
    });
    await broker.send(queues.second, 1);
    await broker.waitForReady(`${queues.second}.dead`, 1);
    await waitForEmpty(queues.second);
    // The retry and the dead letter went through the second broker; the first one saw neither.
    expect(second.count('client', 'basic.publish')).toBe(2);
    expect(second.frames.filter(fromClient('basic.ack'))).toHaveLength(2);
    expect(first.count('client', 'basic.publish')).toBe(0);
    expect(first.count('client', 'basic.ack')).toBe(0);
    const consumes = (proxy: AmqpProxy, queue: string) =>
      proxy.frames.filter(fromClient('basic.consume', { queue })).length;
    expect(consumes(first, queues.first)).toBe(1);
    expect(consumes(first, queues.second)).toBe(0);
    expect(consumes(second, queues.first)).toBe(0);
    expect(consumes(second, queues.second)).toBe(1);
    // A lost connection does not affect the other.
    second.cutAll();
    await broker.send(queues.second, 2);
    await broker.waitForReady(`${queues.second}.dead`, 2);
    await waitForEmpty(queues.second);
    expect(consumes(second, queues.second)).toBe(2);
    expect(consumes(first, queues.first)).toBe(1);
    await broker.send(queues.first, 1);
    await broker.waitForReady(`${queues.first}.dead`, 1);
    await waitForEmpty(queues.first);
  });

  it('requires a subscription to name one of them', async () => {
    const proxy = await openProxy();
    const queue = unique('unsaid');
    const names = [unique('one'), unique('two')] as const;
    const Handler = handlerOf({ queue }, () => undefined);
    const started = startApp({
      providers: [Handler],
      imports: [connectionTo(proxy.url, names[1])],
      rabbit: { uri: proxy.url, name: names[0] },
    });
    await expect(started).rejects.toBeInstanceOf(SettleStartupError);
    await expect(started).rejects.toThrow(
      new RegExp(`connection: expected one of "${names[0]}", "${names[1]}"; found undefined`),
    );
    expect(proxy.frames.filter(({ details }) => details.queue === queue)).toEqual([]);
  });

  it('refuses the name of an unknown connection', async () => {
    const name = unique('one');
    const Handler = handlerOf({ queue: unique('absent'), connection: 'absent' }, () => undefined);
    const started = startApp({ providers: [Handler], rabbit: { name } });
    await expect(started).rejects.toThrow(
      new RegExp(`connection: expected one of "${name}"; found 'absent'`),
    );
  });

  it('consumes nothing on a connection with registerHandlers: false', async () => {
    const queue = unique('off');
    const proxy = await openProxy();
    const Handler = handlerOf({ queue }, () => undefined);
    const { registry } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url, registerHandlers: false },
    });
    expect(registry.get(Handler, 'handle').state).toBe('disabled');
    await until(() => proxy.count('client', 'channel.open') > 0);
    expect(proxy.frames.filter(({ details }) => details.queue === queue)).toEqual([]);
  });
});
