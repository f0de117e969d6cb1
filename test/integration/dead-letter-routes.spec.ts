import { describe, expect, it } from 'vitest';
import { drop, fixed, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe('a dead-letter exchange', async () => {
  const broker = await openBroker();

  it.each(['classic', 'quorum'] as const)(
    'is declared with its routing key for deadLetter.by: broker, and takes dropped messages (%s)',
    async (queueType) => {
      const queue = unique('by-broker');
      const dead = `${queue}.dead`;
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 2 }, deadLetter: { queue: dead, by: 'broker' } },
        (payload) => (payload === 'drop' ? drop() : retry()),
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, 'drop');
      const dropped = await broker.take(dead);
      expect(dropped.properties.headers?.['x-death']?.[0]).toMatchObject({
        queue,
        reason: 'rejected',
      });
      await broker.send(queue, 'retry');
      await broker.waitForReady(dead, 1);
      expect(await broker.ready(queue)).toBe(0);
    },
  );

  it('of queueOptions causes a warning at startup only if it does not exist', async () => {
    const [missing, there] = [unique('no-exchange'), unique('exchange')];
    await broker.exchange(there, 'fanout', { autoDelete: true });
    const bySetting = handlerOf(
      { queue: `${missing}.a`, queueOptions: { deadLetterExchange: missing } },
      () => undefined,
    );
    const byArgument = handlerOf(
      { queue: `${missing}.b`, queueOptions: { arguments: { 'x-dead-letter-exchange': missing } } },
      () => undefined,
    );
    const fine = handlerOf(
      { queue: there, queueOptions: { deadLetterExchange: there } },
      () => undefined,
    );
    const app = await startApp({
      providers: [bySetting, byArgument, fine].map((useClass, id) => ({
        provide: `${id}`,
        useClass,
      })),
    });
    const lines = app.log.matching(
      /\[missing-exchange\].*dead-letter exchange ".*" does not exist/,
      ['warn'],
    );
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toContain(missing);
  });

  it.each<[what: string, body: Buffer, options: object]>([
    ['is invalid', Buffer.from('{'), {}],
    ['failed', Buffer.from('{}'), {}],
    ['has used all attempts', Buffer.from('{}'), { retry: { attempts: 2 }, onError: 'retry' }],
  ])('is not set: one line for a message that %s', async (_what, body, options) => {
    const queue = unique('no-route');
    const Handler = handlerOf({ queue, ...options }, () => Promise.reject(new Error('failed')));
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, body, { messageId: 'm1' });
    await until(() => app.settlements.some(({ decision }) => decision.kind === 'reject'));
    const lines = app.log.matching(/\[rejected\]/, ['error']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"m1"');
    expect(lines[0]).toContain(queue);
  });

  it('is not set: only a debug line if the handler itself drops', async () => {
    const queue = unique('own-drop');
    const Handler = handlerOf({ queue }, () => drop());
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await app.settled(1);
    expect(app.log.matching(/\[rejected\]/)).toEqual([]);
    expect(app.log.matching(/\[rejected\]/, ['debug'])).toHaveLength(1);
  });
});

describe('a dead-letter cycle', async () => {
  const broker = await openBroker();

  it.each(['classic', 'quorum'] as const)(
    'through waiting queues loses no message in five rounds (%s)',
    async (queueType) => {
      const queue = unique('rounds');
      const Handler = handlerOf(
        {
          queue,
          queueType,
          retry: { attempts: 6, backoff: fixed(30) },
          deadLetter: `${queue}.dead`,
        },
        (_payload, { isLastAttempt }) => (isLastAttempt ? undefined : retryAfter()),
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await until(() => app.settlements.some(({ outcome }) => outcome.kind === 'ack'));
      await app.settled(6);
      expect(app.settlements.map(({ attempt }) => attempt).sort()).toEqual([1, 2, 3, 4, 5, 6]);
      expect(await broker.ready(`${queue}.dead`)).toBe(0);
    },
  );

  it('through a TTL of the queue itself loses no message', async () => {
    const queue = unique('own-ttl');
    await broker.declare(`${queue}.pause`, {
      arguments: {
        'x-message-ttl': 30,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': queue,
      },
    });
    const Handler = handlerOf(
      {
        queue,
        retry: { attempts: 5, backoff: fixed(30) },
        queueOptions: {
          messageTtl: 5_000,
          deadLetterExchange: '',
          deadLetterRoutingKey: `${queue}.pause`,
        },
      },
      (_payload, { isLastAttempt }) => (isLastAttempt ? undefined : retryAfter()),
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await app.settled(5);
    expect(app.settlements.map(({ attempt }) => attempt).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('through the dead-letter queue, configured by the user, logs each pass', async () => {
    const queue = unique('parking');
    const dead = `${queue}.dead`;
    const Handler = handlerOf(
      {
        queue,
        deadLetter: {
          queue: dead,
          queueOptions: {
            arguments: {
              'x-message-ttl': 100,
              'x-dead-letter-exchange': '',
              'x-dead-letter-routing-key': queue,
            },
          },
        },
      },
      () => undefined,
    );
    const app = await startApp({ providers: [Handler] });
    const began = Date.now();
    await broker.send(queue, Buffer.from('{bad json'), { messageId: 'm1' });
    await app.settled(3);
    expect(Date.now() - began).toBeGreaterThanOrEqual(200);
    expect(app.settlements.map(({ attempt }) => attempt).slice(0, 3)).toEqual([1, 1, 1]);
    expect(
      app.log.matching(/\[dead-lettered\] message "m1".*SyntaxError/, ['error']).length,
    ).toBeGreaterThanOrEqual(3);
  });
});

describe('a waiting queue', async () => {
  const broker = await openBroker();

  // A quorum queue retries after some seconds what its target could not take.
  it.each(['classic', 'quorum'] as const)(
    'keeps its messages while its target is deleted and declared again (%s)',
    async (queueType) => {
      const queue = unique('vanished');
      const seen: number[] = [];
      const Handler = handlerOf(
        { queue, queueType, retry: { attempts: 3 } },
        (_payload, { attempt }) => {
          seen.push(attempt);
          return attempt === 1 ? retryAfter('2s') : undefined;
        },
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await app.settled(1);
      await broker.delete(queue);
      await until(async () => (await broker.ready(queue)) !== undefined);
      await until(() => app.registry.list()[0]?.state === 'consuming');
      await until(() => seen.length === 2, { timeoutMs: 25_000 });
      expect(seen).toEqual([1, 2]);
    },
  );
});
