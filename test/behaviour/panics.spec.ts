import { AssertionError } from 'node:assert';
import { describe, expect, it } from 'vitest';
import { ack, Panic, type SettleModuleOptions, type SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)('a panic on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function panicking(
    more: Partial<AcknowledgedOptions>,
    { error = (): unknown => new Panic('a bug'), settle = {} as SettleModuleOptions } = {},
  ) {
    const queue = unique('panics');
    const Handler = handlerOf({ queue, queueType, ...more }, async () => {
      throw error();
    });
    const app = await startApp({ providers: [Handler], settle });
    await broker.send(queue, {}, { messageId: 'm1' });
    const [first] = await app.settled(1);
    return { app, queue, first: first! };
  }

  it('shuts the application down by default; the message is requeued when its channel closes', async () => {
    const { app, queue, first } = await panicking({ deadLetter: 'unused.dead' });
    expect(first.decision.kind).toBe('leaveUnsettled');
    expect(first.status).toBe('none');
    await until(() => app.failed.length === 1);
    expect(app.failed[0]?.delivery.messageId).toBe('m1');
    expect(app.failed[0]?.error).toHaveProperty('message', 'a bug');
    const message = await broker.take(queue);
    expect(message.fields.redelivered).toBe(true);
    expect(app.registry.list().map(({ state }) => state)).toEqual(['stopped']);
    const [line] = app.log.matching(/\[fail-fast\] .*shutting down/, ['error']);
    expect(line).toContain('"m1"');
    expect(app.log.lines.find(({ text }) => text === line)?.rest[0]).toContain('panics.spec');
  });

  it.each<[policy: SubscribeOptions['onPanic'], decision: string]>([
    ['drop', 'deadLetter'],
    ['skip', 'ack'],
    ['retry', queueType === 'quorum' ? 'requeue' : 'republish'],
    ['retryAfter', 'republish'],
    [ack(), 'ack'],
  ])('under the policy %j does not shut it down', async (onPanic, decision) => {
    const dead = unique('panics.dead');
    const { app, first } = await panicking({
      onPanic: onPanic!,
      retry: { attempts: 3, backoff: { delay: () => 20 } },
      deadLetter: dead,
    });
    expect(first.decision.kind).toBe(decision);
    expect(app.failed).toEqual([]);
    if (onPanic !== 'drop') return;
    expect((await broker.take(dead)).properties.headers?.['x-settle-reason']).toBe('panic');
  });

  it("under 'failFastOnce' shuts it down once, and is dropped when redelivered", async () => {
    const queue = unique('once');
    const options: SubscribeOptions = {
      queue,
      queueType,
      onPanic: 'failFastOnce',
      deadLetter: `${queue}.dead`,
    };
    const Handler = handlerOf(options, () => {
      throw new Panic('poison');
    });
    const first = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await until(() => first.failed.length === 1);
    await first.close();
    const second = await startApp({ providers: [Handler] });
    const { headers } = (await broker.take(`${queue}.dead`)).properties;
    expect(headers?.['x-settle-reason']).toBe('panic');
    expect(second.failed).toEqual([]);
  });

  it('is decided by isPanic, for errors and for bugs', async () => {
    const isPanic = (error: unknown) => {
      if ((error as Error).message === 'fatal') return true;
      return error instanceof TypeError ? false : undefined;
    };
    const settle = { isPanic };
    const fatal = await panicking({}, { error: () => new Error('fatal'), settle });
    expect(fatal.first.decision.kind).toBe('leaveUnsettled');
    const harmless = await panicking({}, { error: () => new TypeError('x'), settle });
    expect(harmless.first.decision.kind).toBe('reject');
    const open = await panicking({}, { error: () => new ReferenceError('x'), settle });
    expect(open.first.decision.kind).toBe('leaveUnsettled');
  });

  it('is classified without isPanic if isPanic throws', async () => {
    const isPanic = () => {
      throw new Error('bad');
    };
    const { app, first } = await panicking({}, { settle: { isPanic } });
    expect(first.decision.kind).toBe('leaveUnsettled');
    expect(app.log.matching(/isPanic of SettleModule threw/, ['error']).length).toBeGreaterThan(0);
  });
});

describe('what counts as a panic', async () => {
  const broker = await openBroker();

  function overflow(): number {
    return 1 + overflow();
  }

  it.each<[what: string, body: (payload: never) => unknown, isPanic: boolean]>([
    ['Panic', () => Promise.reject(new Panic('x')), true],
    ['AssertionError', () => Promise.reject(new AssertionError({ message: 'x' })), true],
    ['a TypeError', (payload: { a: { b: { c: 1 } } }) => payload.a.b.c, true],
    ['a ReferenceError', () => Promise.reject(new ReferenceError('x')), true],
    ['a stack overflow', () => overflow(), true],
    ['another RangeError', () => new Array(-1), false],
    [
      'a TypeError with a cause',
      () => Promise.reject(new TypeError('fetch failed', { cause: 1 })),
      false,
    ],
    ['a TypeError with a code', () => Buffer.from(5 as never), false],
    ['a SyntaxError', () => JSON.parse('{'), false],
    ['an AbortError', () => AbortSignal.abort().throwIfAborted(), false],
    ['a subclass of Error', () => Promise.reject(new (class Own extends Error {})('x')), false],
    ['a text', () => Promise.reject('text'), false],
  ])('%s: %#', async (_what, body, isPanic) => {
    const queue = unique('what-panics');
    const Handler = handlerOf({ queue }, body);
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe(isPanic ? 'leaveUnsettled' : 'reject');
  });
});
