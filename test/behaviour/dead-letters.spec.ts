import { describe, expect, it } from 'vitest';
import { drop, type Outcome, Panic, retry, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

const bytes = (text: unknown): number => Buffer.byteLength(String(text));

describe.each(['classic', 'quorum'] as const)('dead letters of a %s queue', async (queueType) => {
  const broker = await openBroker();

  /** The headers of the dead letter that a handler's failure makes of one message. */
  async function headersOf(
    body: (attempt: number) => unknown,
    options: Partial<AcknowledgedOptions> = {},
    message: unknown = {},
  ): Promise<Record<string, unknown>> {
    const queue = unique('diagnosed');
    const { deadLetter = `${queue}.dead` } = options;
    const Handler = handlerOf(
      { queue, queueType, ...options, deadLetter },
      (_payload, { attempt }) => body(attempt),
    );
    await startApp({ providers: [Handler] });
    await broker.send(queue, message);
    const dead = typeof deadLetter === 'string' ? deadLetter : deadLetter.queue;
    const { properties } = await broker.take(dead);
    return { ...properties.headers };
  }

  const throwing = (error: unknown) => (): never => {
    throw error;
  };

  const reasons: [
    reason: string,
    body: (attempt: number) => unknown,
    options: Partial<AcknowledgedOptions>,
    expected: Record<string, unknown>,
  ][] = [
    ['drop', () => drop('not wanted'), {}, { 'x-settle-error-message': 'not wanted' }],
    [
      'error',
      throwing(new RangeError('out of it')),
      {},
      { 'x-settle-error-name': 'RangeError', 'x-settle-error-message': 'out of it' },
    ],
    [
      'panic',
      throwing(new Panic('a bug')),
      { onPanic: 'drop' },
      { 'x-settle-error-name': 'Panic', 'x-settle-error-message': 'a bug' },
    ],
    [
      'timeout',
      () => new Promise(() => undefined),
      { timeout: 50 },
      { 'x-settle-error-name': 'HandlerTimeoutError' },
    ],
    [
      'attempts',
      throwing(new Error('at last')),
      { onError: 'retry', retry: { attempts: 1 } },
      { 'x-settle-error-name': 'Error', 'x-settle-error-message': 'at last' },
    ],
  ];

  it.each(reasons)('have the reason %s and the origin', async (reason, body, options, expected) => {
    const before = Date.now();
    const headers = await headersOf(body, options);
    expect(headers).toMatchObject({
      'x-settle-reason': reason,
      'x-settle-attempts-made': 1,
      'x-settle-handler': 'Handler.handle',
      'x-settle-exchange': '',
      ...expected,
    });
    const failedAt = Date.parse(String(headers['x-settle-failed-at']));
    expect(failedAt).toBeGreaterThanOrEqual(before);
    expect(failedAt).toBeLessThanOrEqual(Date.now());
    expect(headers['x-settle-first-failed-at']).toBe(headers['x-settle-failed-at']);
    expect(headers).not.toHaveProperty('x-settle-attempt');
    expect(headers).not.toHaveProperty('x-settle-error-stack');
    expect(headers['x-settle-routing-key']).toBe(headers['x-settle-queue']);
  });

  it('have the reason invalid-payload', async () => {
    const headers = await headersOf(() => undefined, {}, Buffer.from('{bad'));
    expect(headers).toMatchObject({
      'x-settle-reason': 'invalid-payload',
      'x-settle-error-name': 'SyntaxError',
    });
    expect(headers['x-settle-error-message']).not.toBe('');
  });

  it('have no error headers without an error', async () => {
    const headers = await headersOf(() => retry(), { retry: { attempts: 2 } });
    const names = Object.keys(headers).filter((name) => name.startsWith('x-settle-error'));
    expect(names).toEqual([]);
    expect(headers['x-settle-attempts-made']).toBe(2);
  });

  it('limit the name, message and stack of the error', async () => {
    const error = new Error('grün'.repeat(1_000));
    error.name = 'ü'.repeat(500);
    error.stack = 'ß'.repeat(9_000);
    const queue = unique('bounded.dead');
    const headers = await headersOf(throwing(error), { deadLetter: { queue, stack: true } });
    const bounds: [string, number][] = [
      ['x-settle-error-name', 128],
      ['x-settle-error-message', 1_024],
      ['x-settle-error-stack', 4_096],
    ];
    for (const [name, most] of bounds) {
      const text = headers[name as keyof typeof headers];
      expect(bytes(text)).toBeLessThanOrEqual(most);
      expect(bytes(text)).toBeGreaterThan(most - 4);
      expect(String(text)).not.toContain('\uFFFD');
    }
  });

  it('limit the text of drop() as well', async () => {
    const headers = await headersOf(() => drop('n'.repeat(5_000)));
    expect(headers['x-settle-error-message']).toBe('n'.repeat(1_024));
  });

  it.each<[string, unknown, object]>([
    ['undefined', undefined, {}],
    ['null', null, { 'x-settle-error-name': 'object', 'x-settle-error-message': 'null' }],
    ['a text', 'why', { 'x-settle-error-name': 'string', 'x-settle-error-message': 'why' }],
    ['a number', 7, { 'x-settle-error-name': 'number', 'x-settle-error-message': '7' }],
    ['an object without a prototype', Object.create(null), { 'x-settle-error-name': 'object' }],
  ])('describe a thrown %s', async (_name, thrown, expected) => {
    const headers = await headersOf(throwing(thrown));
    expect(headers).toMatchObject({ 'x-settle-reason': 'error', ...expected });
  });

  it('describe the last error and the time of the first one across republished messages', async () => {
    const queue = unique('first');
    const first: (Date | undefined)[] = [];
    const ends: number[] = [];
    const Handler = handlerOf(
      { queue, queueType, deadLetter: `${queue}.dead`, retry: { attempts: 3 } },
      (_payload, { attempt, firstFailedAt }): Outcome => {
        first.push(firstFailedAt);
        ends.push(Date.now());
        if (attempt < 3) return retryAfter(50);
        throw new Error(`attempt ${attempt}`);
      },
    );
    await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const { headers } = (await broker.take(`${queue}.dead`)).properties;
    expect(first[0]).toBeUndefined();
    expect(first[1]).toBeInstanceOf(Date);
    expect(first[2]).toEqual(first[1]);
    expect(headers?.['x-settle-first-failed-at']).toBe(first[1]?.toISOString());
    expect(first[1]?.getTime()).toBeGreaterThanOrEqual(ends[0] ?? Number.NaN);
    expect(first[1]?.getTime()).toBeLessThan(ends[1] ?? Number.NaN);
    const failedAt = Date.parse(String(headers?.['x-settle-failed-at']));
    expect(failedAt).toBeGreaterThanOrEqual(ends[2] ?? Number.NaN);
    expect(headers).toMatchObject({
      'x-settle-reason': 'error',
      'x-settle-error-message': 'attempt 3',
      'x-settle-attempts-made': 3,
    });
  });

  it('omit the time of the first failure if the broker did the earlier retries', async () => {
    const headers = await headersOf(() => retry(), { retry: { attempts: 2 } });
    expect('x-settle-first-failed-at' in headers).toBe(queueType === 'classic');
    expect(headers).toHaveProperty('x-settle-failed-at');
  });

  it('of several subscriptions share an existing queue', async () => {
    const dead = unique('shared.dead');
    await broker.declare(dead, { arguments: { 'x-max-length': 100 } });
    const queues = [unique('one'), unique('two')];
    const providers = queues.map((queue) =>
      handlerOf({ queue, queueType, deadLetter: dead }, () => drop()),
    );
    await startApp({ providers });
    for (const queue of queues) await broker.send(queue, {});
    const from = [await broker.take(dead), await broker.take(dead)];
    const names = from.map(({ properties }) => properties.headers?.['x-settle-queue']);
    expect(names.sort()).toEqual(queues.sort());
  });
});
