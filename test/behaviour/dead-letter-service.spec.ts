import { describe, expect, it } from 'vitest';
import { type Delivery, retry } from '../../lib';
import { DeadLetters, SettleDeadLettersModule } from '../../lib/dead-letters';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

class BankTimeout extends Error {
  override readonly name = 'BankTimeout';
}

describe.each(['classic', 'quorum'] as const)('DeadLetters on %s queues', async (queueType) => {
  const broker = await openBroker();
  const argumentsOf = { arguments: { 'x-queue-type': queueType } };

  async function aQueue(name: string): Promise<string> {
    const queue = unique(name);
    await broker.declare(queue, argumentsOf);
    return queue;
  }

  /** An application whose handler fails until `heal` is called, and the service in it. */
  async function failing(body?: (payload: { id: number }, delivery: Delivery) => unknown) {
    const queue = unique('billing');
    const dead = `${queue}.dead`;
    let isHealthy = false;
    const deliveries: Delivery[] = [];
    const Billing = handlerOf(
      { queue, queueType, deadLetter: dead, allowNonJsonMessages: true },
      (payload: never, delivery) => {
        deliveries.push(delivery);
        if (isHealthy) return undefined;
        return body?.(payload, delivery);
      },
    );
    const app = await startApp({
      providers: [Billing],
      imports: [SettleDeadLettersModule.forRoot()],
    });
    return {
      ...{ queue, dead, app, deliveries },
      service: app.app.get(DeadLetters),
      heal: () => {
        isHealthy = true;
      },
    };
  }

  const bankTimeouts = (payload: { id: number }): never => {
    throw new BankTimeout(`Bank 10.0.0.${payload.id} did not answer after ${payload.id * 100} ms`);
  };

  it('groups what failed in the same way, and returns every message in its order', async () => {
    const { queue, dead, service, app } = await failing((payload) => {
      if (payload.id > 5) throw new RangeError('amount below 0');
      return bankTimeouts(payload);
    });
    for (let id = 1; id <= 8; id += 1) await broker.send(queue, { id }, { messageId: `m-${id}` });
    await app.settled(8);
    await broker.waitForReady(dead, 8);
    const list = await service.list(dead);
    expect(list).toMatchObject({ total: 8, scanned: 8, matched: 8, consumers: 0 });
    const handler = 'Handler.handle';
    expect(list.groups).toEqual([
      expect.objectContaining({
        ...{ reason: 'error', errorName: 'BankTimeout', handler, count: 5 },
        errorMessage: 'Bank <n> did not answer after <n> ms',
      }),
      expect.objectContaining({ errorName: 'RangeError', count: 3 }),
    ]);
    expect(list.letters.map(({ messageId }) => messageId)).toEqual(
      Array.from({ length: 8 }, (_, index) => `m-${index + 1}`),
    );
    expect(list.letters[0]).toMatchObject({
      ...{ position: 1, by: 'client', attempts: 1, replays: 0, handler },
      origin: { queue, exchange: '', routingKey: queue },
    });
    const again = await service.list(dead, { limit: 3 });
    expect(again.letters.map(({ id }) => id)).toEqual(list.letters.slice(0, 3).map(({ id }) => id));
    expect(again.matched).toBe(8);
    for (let id = 1; id <= 8; id += 1) {
      expect((await broker.take(dead)).properties.messageId).toBe(`m-${id}`);
    }
  });

  it('reads one message with its body, headers and history', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    await broker.send(queue, { id: 3, note: 'x'.repeat(20_000) }, { headers: { tenant: 'a' } });
    await app.settled(1);
    await broker.waitForReady(dead, 1);
    const [letter] = (await service.list(dead)).letters;
    const found = await service.get(dead, letter!.id);
    expect(found).toMatchObject({ isTruncated: true, headers: { tenant: 'a' }, size: 20_018 });
    expect(found!.body).toHaveLength(16_384);
    expect(found!.history).toMatchObject([
      { kind: 'failed', queue },
      { kind: 'dead-lettered', queue, reason: 'error' },
    ]);
    const whole = await service.get(dead, letter!.id, { maxBody: '1MiB' });
    expect(whole!.isTruncated).toBe(false);
    expect(JSON.parse(String(whole!.body))).toMatchObject({ id: 3 });
    expect(await service.get(dead, 'nothing')).toBeUndefined();
    expect(await broker.ready(dead)).toBe(1);
  });

  it('replays a group in its order, at attempt 1, with the address of the first publish', async () => {
    const { queue, dead, service, app, heal, deliveries } = await failing((payload) => {
      if (payload.id % 2 === 0) throw new RangeError('even');
      return bankTimeouts(payload);
    });
    const exchange = unique('orders');
    await broker.exchange(exchange, 'topic');
    await broker.bind(queue, exchange, 'order.#');
    for (let id = 1; id <= 6; id += 1) {
      await broker.publish(exchange, `order.${id}`, { id }, { messageId: `m-${id}` });
    }
    await app.settled(6);
    await broker.waitForReady(dead, 6);
    heal();
    const { groups } = await service.list(dead);
    const where = { group: groups.find(({ errorName }) => errorName === 'BankTimeout')!.key };
    const planned = await service.replay(dead, { where, dryRun: true });
    expect(planned).toMatchObject({ matched: 3, replayed: 0, targets: [{ queue, count: 3 }] });
    deliveries.length = 0;
    const result = await service.replay(dead, { where });
    expect(result).toMatchObject({ total: 6, scanned: 6, matched: 3, replayed: 3, failed: 0 });
    expect(result).toMatchObject({ ended: 'complete', duplicated: 0, failures: [] });
    await app.settled(9);
    expect(deliveries.map(({ messageId }) => messageId)).toEqual(['m-1', 'm-3', 'm-5']);
    expect(deliveries[0]).toMatchObject({ attempt: 1, exchange, routingKey: 'order.1' });
    expect(deliveries[0]!.firstFailedAt).toBeUndefined();
    expect(deliveries[0]!.headers).toMatchObject({ 'x-settle-replays': 1 });
    await broker.waitForReady(dead, 3);
    expect((await broker.take(dead)).properties.messageId).toBe('m-2');
  });

  it('ends at what was there at the start although the messages fail again, and counts replays', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    for (let id = 1; id <= 20; id += 1) await broker.send(queue, { id }, { messageId: `m-${id}` });
    await app.settled(20);
    await broker.waitForReady(dead, 20);
    for (const replays of [1, 2]) {
      const result = await service.replay(dead);
      expect(result).toMatchObject({ total: 20, replayed: 20, ended: 'complete' });
      await app.settled(20 + replays * 20);
      await broker.waitForReady(dead, 20);
      const { letters } = await service.list(dead);
      expect(new Set(letters.map((letter) => letter.replays))).toEqual(new Set([replays]));
      expect(letters[0]!.replayedAt).toBeInstanceOf(Date);
    }
  });

  it('replays by id, up to a limit, and to another queue', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    for (let id = 1; id <= 5; id += 1) await broker.send(queue, { id }, { messageId: `m-${id}` });
    await app.settled(5);
    await broker.waitForReady(dead, 5);
    const target = await aQueue('parked');
    const { letters } = await service.list(dead);
    const ids = [letters[3]!.id, letters[1]!.id];
    expect(await service.replay(dead, { ids, to: target })).toMatchObject({ replayed: 2 });
    expect(await service.replay(dead, { limit: 1, to: target })).toMatchObject({
      ...{ replayed: 1, ended: 'limit' },
    });
    for (const id of ['m-2', 'm-4', 'm-1']) {
      expect((await broker.take(target)).properties.messageId).toBe(id);
    }
    await broker.waitForReady(dead, 2);
  });

  it('keeps what has no target, and reports it', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    await broker.send(queue, { id: 1 }, { messageId: 'm-1' });
    await app.settled(1);
    await broker.waitForReady(dead, 1);
    await broker.send(dead, 'no dead letter', { messageId: 'm-2' });
    await broker.waitForReady(dead, 2);
    await app.close();
    await broker.delete(queue);
    const other = await startApp({ providers: [], imports: [SettleDeadLettersModule.forRoot()] });
    const service2 = other.app.get(DeadLetters);
    expect(service2).not.toBe(service);
    const result = await service2.replay(dead);
    expect(result).toMatchObject({ matched: 2, replayed: 0, failed: 2, ended: 'complete' });
    expect(result.failures).toMatchObject([
      { cause: 'no-origin', count: 1 },
      { cause: 'target-missing', target: queue, count: 1 },
    ]);
    expect(await service2.replay(dead, { to: unique('missing') })).toMatchObject({
      ...{ replayed: 0, ended: 'target' },
    });
    for (const id of ['m-1', 'm-2']) {
      expect((await broker.take(dead)).properties.messageId).toBe(id);
    }
  });

  it('keeps what a full queue refuses', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    for (let id = 1; id <= 3; id += 1) await broker.send(queue, { id }, { messageId: `m-${id}` });
    await app.settled(3);
    await broker.waitForReady(dead, 3);
    const full = unique('full');
    const limits = { 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await broker.declare(full, { arguments: { ...argumentsOf.arguments, ...limits } });
    await broker.send(full, 'first');
    if (queueType === 'quorum') await broker.send(full, 'second').catch(() => undefined);
    const result = await service.replay(dead, { to: full });
    expect(result).toMatchObject({ ended: 'target' });
    expect(result.failures).toMatchObject([{ cause: 'target-refused', target: full }]);
    await broker.waitForReady(dead, 3 - result.replayed);
  });

  it('discards only what a dry run has counted', async () => {
    const { queue, dead, service, app } = await failing(bankTimeouts);
    const send = async (...ids: number[]): Promise<void> => {
      for (const id of ids) await broker.send(queue, { id }, { messageId: `m-${id}` });
    };
    await send(1, 2, 3);
    await app.settled(3);
    await broker.waitForReady(dead, 3);
    await expect(service.discard(dead, {})).rejects.toThrow('dryRun');
    const where = { errorName: 'BankTimeout' };
    const { token, matched, discarded } = await service.discard(dead, { where, dryRun: true });
    expect({ matched, discarded }).toEqual({ matched: 3, discarded: 0 });
    await expect(service.discard(dead, { confirm: token })).rejects.toThrow('token');
    await send(4);
    await app.settled(4);
    await broker.waitForReady(dead, 4);
    const result = await service.discard(dead, { where, confirm: token });
    expect(result).toMatchObject({ discarded: 3, ended: 'limit' });
    expect((await broker.take(dead)).properties.messageId).toBe('m-4');
  });

  it('reads and replays what RabbitMQ has dead-lettered itself', async () => {
    const dead = await aQueue('dead');
    const queue = unique('foreign');
    const route = { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': dead };
    const exchange = unique('foreign-exchange');
    await broker.declare(queue, { arguments: { ...argumentsOf.arguments, ...route } });
    await broker.exchange(exchange, 'topic');
    await broker.bind(queue, exchange, '#');
    await broker.publish(exchange, 'a.b', { id: 1 }, { messageId: 'm-1', expiration: '1' });
    await broker.waitForReady(dead, 1);
    const { app } = await startApp({
      providers: [],
      imports: [SettleDeadLettersModule.forRoot()],
    });
    const service = app.get(DeadLetters);
    const { letters, groups } = await service.list(dead);
    expect(groups).toMatchObject([{ reason: 'expired', count: 1 }]);
    expect(letters).toMatchObject([
      {
        ...{ reason: 'expired', by: 'broker' },
        origin: { queue, exchange, routingKey: 'a.b' },
      },
    ]);
    expect(await service.get(dead, letters[0]!.id)).toMatchObject({
      history: [{ kind: 'moved', queue, reason: 'expired', count: 1 }],
    });
    expect(await service.replay(dead)).toMatchObject({ replayed: 1 });
    const { properties } = await broker.take(queue);
    expect(properties).toMatchObject({ messageId: 'm-1' });
    expect(properties.expiration).toBeUndefined();
    expect(properties.headers).toMatchObject({ 'x-settle-replays': 1, 'x-settle-queue': queue });
    expect(properties.headers).not.toHaveProperty('x-death');
  });

  it('looks at the first messages only, and says so', async () => {
    const dead = await aQueue('long');
    for (let id = 1; id <= 30; id += 1) await broker.send(dead, { id }, { messageId: `m-${id}` });
    const { app } = await startApp({
      providers: [],
      imports: [SettleDeadLettersModule.forRoot()],
    });
    const service = app.get(DeadLetters);
    expect(await service.list(dead, { scan: 10 })).toMatchObject({ scanned: 10, total: 30 });
    const to = await aQueue('target');
    const where = { messageId: 'm-25' };
    const narrow = await service.replay(dead, { where, to, scan: 10 });
    expect(narrow).toMatchObject({ scanned: 10, replayed: 0, ended: 'scan' });
    const wide = await service.replay(dead, { where, to });
    expect(wide).toMatchObject({ scanned: 30, replayed: 1, ended: 'complete' });
    await broker.waitForReady(dead, 29);
  });

  it('resolves for an empty queue and rejects for a missing one', async () => {
    const { app } = await startApp({
      providers: [],
      imports: [SettleDeadLettersModule.forRoot()],
    });
    const service = app.get(DeadLetters);
    const empty = await aQueue('empty');
    expect(await service.list(empty)).toMatchObject({ total: 0, letters: [], groups: [] });
    expect(await service.replay(empty)).toMatchObject({ total: 0, ended: 'complete' });
    await expect(service.list(unique('missing'))).rejects.toMatchObject({ code: 404 });
    await expect(service.replay(unique('missing'))).rejects.toMatchObject({ code: 404 });
    await app.close();
    await expect(service.list(empty)).rejects.toThrow('shutting down');
  });

  it('is retried as any other message after a replay', async () => {
    const queue = unique('retried');
    const dead = `${queue}.dead`;
    const attempts: number[] = [];
    const Handler = handlerOf(
      { queue, queueType, deadLetter: dead, retry: { attempts: 2 } },
      (_payload, { attempt }) => {
        attempts.push(attempt);
        return retry();
      },
    );
    const { app, settled } = await startApp({
      providers: [Handler],
      imports: [SettleDeadLettersModule.forRoot()],
    });
    await broker.send(queue, { id: 1 });
    await settled(2);
    await broker.waitForReady(dead, 1);
    expect(await app.get(DeadLetters).replay(dead)).toMatchObject({ replayed: 1 });
    await settled(4);
    expect(attempts).toEqual([1, 2, 1, 2]);
    await broker.waitForReady(dead, 1);
    const [letter] = (await app.get(DeadLetters).list(dead)).letters;
    expect(letter).toMatchObject({ replays: 1, attempts: 2, reason: 'attempts' });
  });
});
