import { describe, expect, it } from 'vitest';
import { DeadLetters } from '../../lib/dead-letters';
import { startApp } from '../support/app';
import { openBroker, unique, url } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import { openProxy } from '../support/proxied';
import { itOn } from '../support/versions';
import type { ReplaySettings } from './fixtures/replay';

/** How many replays are killed; each takes a process. `REPLAY_KILLS=20` is the long form. */
const KILLS = Number(process.env['REPLAY_KILLS'] ?? 2);
/** What a replay has published at most without an acknowledgement. */
const WINDOW = 256;

describe.each(['classic', 'quorum'] as const)('replaying from a %s queue', async (queueType) => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();
  const options = { arguments: { 'x-queue-type': queueType } };

  async function aQueue(name: string): Promise<string> {
    const queue = unique(name);
    await broker.declare(queue, options);
    return queue;
  }

  /** A queue of dead letters of `queue`, with message ids from 1 on. */
  async function deadLettersOf(queue: string, count: number, body: unknown = {}): Promise<string> {
    const dead = await aQueue('dead');
    const headers = {
      ...{ 'x-settle-reason': 'error', 'x-settle-queue': queue },
      'x-settle-error-name': 'BankTimeout',
    };
    const sent: Promise<void>[] = [];
    for (let id = 1; id <= count; id += 1) {
      sent.push(broker.send(dead, body, { messageId: String(id), headers }));
    }
    await Promise.all(sent);
    await broker.waitForReady(dead, count);
    return dead;
  }

  /** The message ids in a queue, in its order. */
  async function idsIn(queue: string): Promise<number[]> {
    return broker.channel(async (channel) => {
      const ids: number[] = [];
      const { messageCount } = await channel.checkQueue(queue);
      const done = new Gate();
      if (messageCount === 0) return ids;
      await channel.consume(
        queue,
        (message) => {
          ids.push(Number(message?.properties.messageId));
          if (ids.length === messageCount) done.open();
        },
        { noAck: true },
      );
      await done.promise;
      return ids;
    });
  }

  const numbers = (from: number, to: number): number[] =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  async function connected(to = url): Promise<DeadLetters> {
    const deadLetters = await DeadLetters.connect(to);
    return deadLetters;
  }

  it(`loses nothing when it is killed ${KILLS} times, and repeats only what was not acknowledged`, async () => {
    const target = await aQueue('target');
    const count = 6_000;
    const dead = await deadLettersOf(target, count);
    const settings: ReplaySettings = { url, queue: dead, rate: 2_000 };
    const start = (): ChildApp => new ChildApp(fixtures.pathOf('replay'), { settings });
    const waiting = [start(), start()];
    let repeated = 0;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const child = waiting.shift() as ChildApp;
      if (kill + waiting.length < KILLS) waiting.push(start());
      await child.waitFor('ready');
      child.signal('SIGUSR2');
      await child.waitFor('replayed');
      expect(child.reported('ended')).toEqual([]);
      await child.kill();
      const total = async (): Promise<number> =>
        ((await broker.ready(dead)) ?? 0) + ((await broker.ready(target)) ?? 0);
      await until(async () => (await total()) >= count + repeated, { what: 'all messages' });
      await until(async () => (await broker.consumers(dead)) === 0, { what: 'no consumer' });
      const more = (await total()) - count - repeated;
      expect(more).toBeLessThanOrEqual(WINDOW);
      repeated += more;
    }
    const deadLetters = await connected();
    const left = (await broker.ready(dead)) ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(await deadLetters.replay(dead)).toMatchObject({ replayed: left, ended: 'complete' });
    await deadLetters.close();
    await broker.waitForReady(target, count + repeated);
    const ids = await idsIn(target);
    expect(new Set(ids)).toEqual(new Set(numbers(1, count)));
    expect(ids).toHaveLength(count + repeated);
  }, 120_000);

  it('is done once by two operators at the same time', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 2_000);
    const operators = [await connected(), await connected()];
    const results = await Promise.all(operators.map((operator) => operator.replay(dead)));
    const replayed = results.map((result) => result.replayed);
    for (const operator of operators) await operator.close();
    expect(replayed.reduce((sum, one) => sum + one, 0)).toBe(2_000);
    await broker.waitForReady(target, 2_000);
    expect((await idsIn(target)).sort((one, other) => one - other)).toEqual(numbers(1, 2_000));
    expect(await broker.ready(dead)).toBe(0);
  });

  it('keeps the order of what does not match, also across many consumers', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 3_000);
    const deadLetters = await connected();
    const where = { messageId: ['1500', '2999'] };
    const result = await deadLetters.replay(dead, { where });
    await deadLetters.close();
    expect(result).toMatchObject({ scanned: 3_000, replayed: 2, ended: 'complete' });
    await broker.waitForReady(dead, 2_998);
    const kept = numbers(1, 3_000).filter((id) => id !== 1_500 && id !== 2_999);
    expect(await idsIn(dead)).toEqual(kept);
    expect(await idsIn(target)).toEqual([1_500, 2_999]);
  });

  it('lists 10 000 messages and returns them in their order', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 10_050);
    const deadLetters = await connected();
    const list = await deadLetters.list(dead);
    expect(list).toMatchObject({ scanned: 10_000, total: 10_050, matched: 10_000 });
    // RabbitMQ 3.10 counts a quorum queue as empty for seconds after thousands have returned to it.
    for (let again = 0; again < 3; again += 1) {
      expect((await deadLetters.list(dead)).scanned).toBeGreaterThan(0);
    }
    await deadLetters.close();
    expect(list.groups).toMatchObject([{ count: 10_000, errorName: 'BankTimeout' }]);
    expect(list.letters).toHaveLength(100);
    await broker.waitForReady(dead, 10_050);
    expect(await idsIn(dead)).toEqual(numbers(1, 10_050));
  });

  it('reads the same messages each time', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 1_000);
    const deadLetters = await connected();
    for (let round = 1; round <= 3; round += 1) {
      const { letters, scanned } = await deadLetters.list(dead, { scan: 200 });
      expect(letters.map(({ messageId }) => Number(messageId))).toEqual(numbers(1, 100));
      expect(scanned).toBe(200);
      const found = await deadLetters.get(dead, letters[9]?.id ?? '', { scan: 200 });
      expect(found).toMatchObject({ messageId: '10', position: 10 });
    }
    await deadLetters.close();
  });

  it('finds what is listed first, also after a dry run', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 6_000);
    const deadLetters = await connected();
    const scan = 1_500;
    for (let round = 1; round <= 3; round += 1) {
      const planned = await deadLetters.replay(dead, { scan, dryRun: true });
      expect(planned).toMatchObject({ scanned: scan, ended: 'scan' });
      const [, letter] = (await deadLetters.list(dead, { scan })).letters;
      expect(await deadLetters.get(dead, letter?.id ?? '', { scan })).toBeDefined();
    }
    await deadLetters.close();
  });

  it('replays large messages in their order', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 4, Buffer.alloc(1_500_000, 'x'));
    await broker.send(dead, 'small', { messageId: '5', headers: { 'x-settle-queue': target } });
    await broker.waitForReady(dead, 5);
    const deadLetters = await connected();
    expect(await deadLetters.replay(dead, { to: target })).toMatchObject({ replayed: 5 });
    await deadLetters.close();
    await broker.waitForReady(target, 5);
    expect((await idsIn(target)).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it('ends early by its signal; the rest stays', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 500);
    const deadLetters = await connected();
    const abort = new AbortController();
    const result = await deadLetters.replay(dead, {
      rate: 500,
      signal: abort.signal,
      onProgress: () => abort.abort(),
    });
    expect(result.ended).toBe('aborted');
    expect(result.replayed).toBeGreaterThan(0);
    await broker.waitForReady(dead, 500 - result.replayed);
    await broker.waitForReady(target, result.replayed);
    expect(await deadLetters.list(dead)).toMatchObject({ total: 500 - result.replayed });
    await deadLetters.close();
  });

  it('reports a lost connection, and loses nothing', async () => {
    const target = await aQueue('target');
    const dead = await deadLettersOf(target, 1_000);
    const proxy = await openProxy();
    const deadLetters = await connected(proxy.url);
    let isCut = false;
    const result = await deadLetters.replay(dead, {
      rate: 1_000,
      onProgress: () => {
        if (!isCut) proxy.cutAll();
        isCut = true;
      },
    });
    expect(result.ended).toBe('failed');
    expect(result.error).toBeInstanceOf(Error);
    await deadLetters.close();
    const total = async (): Promise<number> =>
      ((await broker.ready(dead)) ?? 0) + ((await broker.ready(target)) ?? 0);
    await until(async () => (await total()) >= 1_000, { what: 'all messages' });
    const ids = [...(await idsIn(dead)), ...(await idsIn(target))];
    expect(new Set(ids)).toEqual(new Set(numbers(1, 1_000)));
  });

  it('works on what another library has rejected and retried through a queue of its own', async () => {
    const [exchange, dead] = [unique('orders'), await aQueue('dead')];
    const [queue, waiting] = [unique('foreign'), unique('foreign.retry')];
    await broker.exchange(exchange, 'topic');
    const route = (key: string) => ({
      ...{ 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': key },
    });
    await broker.declare(queue, { arguments: { ...options.arguments, ...route(waiting) } });
    await broker.declare(waiting, {
      arguments: { ...options.arguments, ...route(queue), 'x-message-ttl': 50 },
    });
    await broker.bind(queue, exchange, 'order.*');
    await broker.publish(exchange, 'order.new', { id: 1 }, { messageId: '1' });
    await broker.channel(async (channel) => {
      for (let attempt = 1; attempt <= 2; attempt += 1) {
        await until(async () => {
          const message = await channel.get(queue);
          if (message === false) return false;
          // The last attempt is parked with its headers, as such libraries do.
          if (attempt === 2) channel.sendToQueue(dead, message.content, message.properties);
          if (attempt === 2) channel.ack(message);
          else channel.nack(message, false, false);
          return true;
        });
      }
    });
    await broker.waitForReady(dead, 1);
    const deadLetters = await connected();
    const { letters } = await deadLetters.list(dead);
    const details = await deadLetters.get(dead, letters[0]!.id);
    const target = await aQueue('elsewhere');
    const result = await deadLetters.replay(dead, { to: target });
    await deadLetters.close();
    expect(letters).toMatchObject([{ by: 'broker', messageId: '1' }]);
    expect(details!.history.map(({ queue: where, reason }) => [where, reason])).toContainEqual([
      ...[queue, 'rejected'],
    ]);
    expect(result).toMatchObject({ replayed: 1 });
    const { properties } = await broker.take(target);
    expect(properties.headers).not.toHaveProperty('x-death');
  });
});

describe('reading a quorum queue again and again', async () => {
  const broker = await openBroker();

  async function lookAt(dead: string, times: number): Promise<void> {
    const deadLetters = await DeadLetters.connect(url);
    for (let look = 1; look <= times; look += 1) {
      expect(await deadLetters.list(dead)).toMatchObject({ total: 3, scanned: 3 });
    }
    await deadLetters.close();
  }

  it('never deletes a message of a dead-letter queue that this library has declared', async () => {
    const queue = unique('looked-at');
    const dead = `${queue}.dead`;
    const Handler = handlerOf({ queue, queueType: 'quorum', deadLetter: dead }, () => {
      throw new Error('no');
    });
    const { settled } = await startApp({ providers: [Handler] });
    for (const id of [1, 2, 3]) await broker.send(queue, { id });
    await settled(3);
    await broker.waitForReady(dead, 3);
    await lookAt(dead, 25);
    await broker.waitForReady(dead, 3);
  });

  itOn({ from: '4.3', because: 'a message that is returned unprocessed is not counted' })(
    'does not count towards the delivery limit',
    async () => {
      const dead = unique('limited');
      const limit = { 'x-queue-type': 'quorum', 'x-delivery-limit': 2 };
      await broker.declare(dead, { arguments: limit });
      for (const id of [1, 2, 3]) await broker.send(dead, { id });
      await broker.waitForReady(dead, 3);
      await lookAt(dead, 5);
      await broker.waitForReady(dead, 3);
    },
  );
});
