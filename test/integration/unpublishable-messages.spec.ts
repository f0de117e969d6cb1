import { describe, expect, it } from 'vitest';
import { drop, retry, retryAfter } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { limitMessageSize } from '../support/message-size';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';
import { invalidUtf8, sendLongHeaders, sendRaw } from '../support/raw-bytes';

interface Run {
  readonly id: string | undefined;
  readonly attempt: number;
  readonly headers: Readonly<Record<string, unknown>>;
}

type Answer = (id: string | undefined, attempt: number) => unknown;

function pausesOf({ log }: TestApp): string[] {
  return log.matching(/\[consumer-paused\]/);
}

describe.each(['classic', 'quorum'] as const)('a message of a %s queue', async (queueType) => {
  const broker = await openBroker();

  /** An application behind a proxy; `answer` is its handler. */
  async function consuming(answer: Answer, options: Partial<AcknowledgedOptions> = {}) {
    const queue = unique('unpublishable');
    const dead = `${queue}.dead`;
    const proxy = await openProxy();
    const runs: Run[] = [];
    const Handler = handlerOf(
      {
        queue,
        queueType,
        retry: { attempts: 3 },
        deadLetter: dead,
        deserializer: (bytes: Buffer) => bytes,
        ...options,
      },
      (_payload, { attempt, headers, messageId: id }) => {
        runs.push({ id, attempt, headers });
        return answer(id, attempt);
      },
    );
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    // Beside the answers to passive declarations: of missing queues, and of another connection's.
    const closes = (): number =>
      proxy.frames.filter(
        ({ direction, method, details }) =>
          direction === 'server' &&
          (method === 'channel.close' || method === 'connection.close') &&
          details.replyCode !== 404 &&
          details.replyCode !== 405,
      ).length;
    return { queue, dead, proxy, runs, app, closes };
  }

  it.each([
    ['drop()', 300_000],
    ['retryAfter()', 300_000],
    ['drop()', 1_200_000],
  ])('too large for the server ends %s with a reject: %i bytes', async (way, size) => {
    const limited = new Gate();
    const { queue, dead, runs, app } = await consuming(async (id) => {
      if (id !== 'large') return undefined;
      await limited.promise;
      return way === 'drop()' ? drop() : retryAfter(20);
    });
    await broker.send(queue, Buffer.alloc(size), { messageId: 'large' });
    await until(() => runs.length === 1);
    await limitMessageSize(200_000);
    limited.open();
    const [settlement] = await app.settled(1);
    expect(settlement).toMatchObject({
      status: 'sent',
      decision: { kind: 'reject' },
      republishError: { name: 'RepublishError', scope: 'message', replyCode: 406 },
    });
    const target = way === 'drop()' ? dead : `${queue}.wait`;
    const [line, ...others] = app.log.matching(/"large"/);
    expect(others).toEqual([]);
    expect(line).toContain(`[rejected] message "large" (queue "${queue}", attempt 1 of 3): could`);
    expect(line).toContain(way === 'drop()' ? `"${target}" (` : dead);
    expect(line).toMatch(/406 \(PRECONDITION-FAILED\).*message size \d+ is larger than/);
    await broker.send(queue, Buffer.from('small'), { messageId: 'small' });
    await app.settled(2);
    expect(runs.map(({ id }) => id)).toEqual(['large', 'small']);
    expect(pausesOf(app)).toEqual([]);
    await broker.waitForReady(queue, 0);
    expect(await broker.ready(dead)).toBe(0);
  });

  const unwritable: [what: string, options: object, lost: string, kept: object][] = [
    ['a messageId', { messageId: invalidUtf8, type: 'paid' }, 'messageId', { type: 'paid' }],
    [
      'a correlationId',
      { correlationId: invalidUtf8, appId: 'a' },
      'correlationId',
      { appId: 'a' },
    ],
  ];

  it.each(unwritable)('with %s that is not UTF-8 goes on without it', async (...row) => {
    const [, options, lost, kept] = row;
    const { queue, dead, runs, app, closes } = await consuming(() => retryAfter(20));
    await sendRaw(queue, {}, { ...options, headers: { tenant: 't' } });
    const { properties } = await broker.take(dead);
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(properties).toMatchObject(kept);
    expect(properties).toHaveProperty(lost, undefined);
    expect(properties.headers).toMatchObject({ tenant: 't', 'x-settle-reason': 'attempts' });
    const [line] = app.log.matching(/\[headers-dropped\]/, ['error']);
    expect(line).toContain(`without ${lost}`);
    expect([pausesOf(app), closes()]).toEqual([[], 0]);
  });

  it('with a header whose name is not UTF-8 goes on without that header', async () => {
    const { queue, dead, runs, app, closes } = await consuming(() => retry());
    await sendRaw(queue, {}, { headers: { tenant: 't', [invalidUtf8]: 1 } });
    const { properties } = await broker.take(dead);
    expect(properties.headers).toMatchObject({ tenant: 't', 'x-settle-reason': 'attempts' });
    expect(runs[0]?.headers['tenant']).toBe('t');
    const lines = app.log.matching(/\[headers-dropped\]/, ['error']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/without header "\uFFFD+/);
    expect([pausesOf(app), closes()]).toEqual([[], 0]);
  });

  it('with 80 kB of headers keeps as many as fit, the smallest first, and harms no other', async () => {
    const { queue, dead, runs, app, closes } = await consuming(() => retryAfter(20));
    const large = Array.from({ length: 10 }, (_, at) => [`large ${at}`, 'x'.repeat(8_000 + at)]);
    const others = Array.from({ length: 20 }, (_, at) => `other ${at}`);
    await sendLongHeaders(queue, 'large', { ...Object.fromEntries(large), tenant: 't' });
    for (const messageId of others) await broker.send(queue, {}, { messageId });
    await broker.waitForReady(dead, 21);
    for (const id of ['large', ...others]) {
      expect(runs.filter((run) => run.id === id).map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    }
    const kept = runs.filter(({ id, attempt }) => id === 'large' && attempt > 1);
    for (const run of kept) {
      expect(run.headers).toMatchObject({
        tenant: 't',
        'large 7': large[7]?.[1],
      });
      expect(run.headers).not.toHaveProperty(['large 8']);
    }
    const lines = app.log.matching(/\[headers-dropped\]/, ['error']);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('"large" (queue');
    expect(lines[0]).toContain('without header "large 8", header "large 9"');
    expect([pausesOf(app), closes()]).toEqual([[], 0]);
    expect(app.settlements.find(({ delivery }) => delivery.messageId === 'large')).toMatchObject({
      status: 'sent',
      republished: { headers: expect.not.objectContaining({ 'large 8': expect.anything() }) },
    });
  });

  it('with a property that the server refuses goes on without it', async () => {
    const { queue, dead, proxy, runs, app, closes } = await consuming(() => retry(), {
      retry: { attempts: 2 },
      ...(queueType === 'quorum' && { onError: 'drop' }),
    });
    proxy.rewrite(fromServer('basic.deliver'), (_frame, bytes) => {
      const at = bytes.indexOf('amq.rabbitmq.reply-t0');
      const replaced = Buffer.from(bytes);
      if (at >= 0) replaced.write('amq.rabbitmq.reply-to', at);
      return { onward: [replaced] };
    });
    await broker.send(
      queue,
      {},
      { messageId: 'm', replyTo: 'amq.rabbitmq.reply-t0', type: 'paid' },
    );
    const { properties } = await broker.take(dead);
    expect(properties).toMatchObject({ messageId: 'm', type: 'paid', replyTo: undefined });
    expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(
      app.log.matching(/\[headers-dropped\] .*without replyTo/, ['error']).length,
    ).toBeGreaterThan(0);
    expect([pausesOf(app), closes()]).toEqual([[], 0]);
  });

  it('with a header that its dead-letter queue, a stream, cannot hold arrives without it', async () => {
    const dead = unique('stream');
    await broker.declare(dead, { arguments: { 'x-queue-type': 'stream' } });
    const { queue, runs, app, closes } = await consuming(() => drop(), { deadLetter: dead });
    const decimal = { '!': 'decimal', value: { places: 2, digits: 314 } };
    const send = (messageId: string): Promise<void> =>
      broker.send(queue, {}, { messageId, headers: { tenant: 't', price: decimal } });
    await send('first');
    await app.settled(1);
    // One close of the shared connection, and one of the connection on which it was tried alone.
    const before = closes();
    expect(before).toBeLessThanOrEqual(2);
    await send('second');
    await broker.send(queue, {}, { messageId: 'third', headers: { price: 1.5 } });
    await app.settled(3);
    expect(runs.map(({ id }) => id)).toEqual(['first', 'second', 'third']);
    expect(app.settlements.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent']);
    expect(closes()).toBe(before);
    const lines = app.log.matching(/\[headers-dropped\]/, ['error']);
    expect(lines.map((line) => /message "(\w+)"/.exec(line)?.[1])).toEqual(['first', 'second']);
    expect(lines[0]).toMatch(/without header "price": RabbitMQ refused .*541 \(INTERNAL-ERROR\)/);
    expect(pausesOf(app)).toEqual([]);
    const [first] = app.settlements;
    expect(first?.republished?.headers).toMatchObject({ tenant: 't' });
    expect(first?.republished?.headers).not.toHaveProperty('price');
    await until(async () => (await broker.ready(queue)) === 0);
  });
});
