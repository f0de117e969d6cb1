import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isWaitingQueue,
  roundUpDelay,
  waitingQueueName,
} from '../../../lib/delivery/waiting-queue';
import { LONGEST_DELAY } from '../../../lib/model/duration';
import type { QueueType } from '../../../lib/model/options';

const delay = fc.oneof(
  fc.integer({ min: 1, max: 5_000 }),
  fc.integer({ min: 1, max: LONGEST_DELAY }),
  // Around the powers of two, where the steps change.
  fc
    .tuple(fc.integer({ min: 0, max: 31 }), fc.integer({ min: -2, max: 2 }))
    .map(([exponent, offset]) => Math.max(1, 2 ** exponent + offset)),
);
const type = fc.constantFrom<QueueType>('classic', 'quorum');
const short = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' });
const queue = fc
  .oneof(
    short,
    fc.string({ minLength: 60, maxLength: 255, unit: 'grapheme' }),
    short.map((s) => s.repeat(40)),
  )
  .map((name) =>
    Buffer.from(name)
      .subarray(0, 255)
      .toString()
      .replace(/\uFFFD+$/, ''),
  )
  .filter((name) => name !== '' && !name.includes('\uFFFD'));

describe('roundUpDelay', () => {
  // The names and TTLs of existing queues come from these: a change strands what waits there.
  it.each([
    [0, 1],
    [0.5, 1],
    [1, 1],
    [7, 7],
    [7.1, 8],
    [8, 8],
    [15, 15],
    [16, 16],
    [17, 18],
    [31, 32],
    [100, 100],
    [500, 500],
    [999, 1_000],
    [1_000, 1_000],
    [101, 104],
    [1_001, 1_024],
    [900_000, 900_000],
    [900_001, 917_504],
    [2_000_000, 2_097_152],
    [7_200_000, 7_200_000],
    [1_024, 1_024],
    [1_025, 1_152],
    [2_000, 2_000],
    [5_000, 5_000],
    [10_000, 10_000],
    [30_000, 30_000],
    [60_000, 60_000],
    [300_000, 300_000],
    [3_600_000, 3_600_000],
    [86_400_000, 86_400_000],
    [LONGEST_DELAY, 4_294_967_296],
  ])('rounds %d up to %i', (ms, rounded) => {
    expect(roundUpDelay(ms)).toBe(rounded);
  });

  it('keeps every integer below 8', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(roundUpDelay)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('has 75 values between 1 s and 5 min', () => {
    const values = new Set<number>();
    for (let ms = 1_000; ms <= 300_000; ms++) values.add(roundUpDelay(ms));
    expect(values.size).toBe(75);
  });

  it('returns an integer that is never shorter and at most 12.5 % longer', () => {
    fc.assert(
      fc.property(delay, (ms) => {
        const rounded = roundUpDelay(ms);
        expect(Number.isInteger(rounded)).toBe(true);
        expect(rounded).toBeGreaterThanOrEqual(ms);
        expect(rounded).toBeLessThanOrEqual(ms * 1.125);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps a rounded delay', () => {
    fc.assert(
      fc.property(delay, (ms) => {
        expect(roundUpDelay(roundUpDelay(ms))).toBe(roundUpDelay(ms));
      }),
      { numRuns: 500 },
    );
  });

  it('preserves the order of delays', () => {
    fc.assert(
      fc.property(delay, fc.oneof(delay, fc.constantFrom(1, 2)), (one, other) => {
        const [less, more] = [one, other].sort((a, b) => a - b) as [number, number];
        expect(roundUpDelay(less)).toBeLessThanOrEqual(roundUpDelay(more));
        expect(roundUpDelay(one)).toBeLessThanOrEqual(roundUpDelay(one + 1));
      }),
      { numRuns: 500 },
    );
  });
});

describe('waitingQueueName', () => {
  it('combines the queue, the kind of waiting queue and the delay', () => {
    expect(waitingQueueName('billing', 'classic', 1_024)).toBe('billing.wait.1024');
    expect(waitingQueueName('billing', 'quorum', 1_024)).toBe('billing.waitq.1024');
  });

  it('keeps a name that just fits, and replaces the end of a longer one by a hash', () => {
    const fits = 'x'.repeat(255 - '.wait.1024'.length);
    expect(waitingQueueName(fits, 'classic', 1_024)).toBe(`${fits}.wait.1024`);
    const tooLong = waitingQueueName(`${fits}x`, 'classic', 1_024);
    expect(tooLong).toMatch(/^x{228}~[0-9a-f]{16}\.wait\.1024$/);
    expect(Buffer.byteLength(tooLong)).toBe(255);
  });

  // Existing queues have these names.
  it('shortens a name identically in every release', () => {
    expect(waitingQueueName('q'.repeat(255), 'quorum', 5_120)).toBe(
      `${'q'.repeat(227)}~db6dd231025487e7.waitq.5120`,
    );
  });

  it('fits into 255 bytes without splitting a character, for any queue', () => {
    fc.assert(
      fc.property(queue, type, delay, (name, kind, ms) => {
        const waiting = waitingQueueName(name, kind, roundUpDelay(ms));
        expect(Buffer.byteLength(waiting)).toBeLessThanOrEqual(255);
        expect(Buffer.from(waiting).toString()).toBe(waiting);
        expect(waiting).not.toContain('\uFFFD');
      }),
    );
  });

  it('differs for long names that differ only at the end', () => {
    const stem = 'ü'.repeat(120);
    const names = ['a', 'b', 'ä', '漢', '😀'].map((end) =>
      waitingQueueName(stem + end, 'classic', 8),
    );
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('isWaitingQueue', () => {
  it('recognises each waiting queue of a queue', () => {
    fc.assert(
      fc.property(queue, type, delay, (name, kind, ms) => {
        expect(isWaitingQueue(waitingQueueName(name, kind, ms), name)).toBe(true);
        expect(isWaitingQueue(waitingQueueName(name, kind, roundUpDelay(ms)), name)).toBe(true);
      }),
    );
  });

  it('rejects those of other queues', () => {
    fc.assert(
      fc.property(queue, queue, type, delay, (name, other, kind, ms) => {
        fc.pre(name !== other);
        expect(isWaitingQueue(waitingQueueName(other, kind, roundUpDelay(ms)), name)).toBe(false);
      }),
    );
  });

  it('recognises both kinds', () => {
    expect(isWaitingQueue('billing.wait.8', 'billing')).toBe(true);
    expect(isWaitingQueue('billing.waitq.8', 'billing')).toBe(true);
  });

  it.each<[string, unknown]>([
    ['the queue itself', 'billing'],
    ['a retry queue of another library', 'billing.retry.1024'],
    ['the waiting queue of a waiting queue', 'billing.wait.8.wait.8'],
    ['the waiting queue of a queue whose name ends the same', 'my.billing.wait.8'],
    ['the waiting queue of a queue whose name begins the same', 'billing2.wait.8'],
    ['a delay of 0', 'billing.wait.0'],
    ['a delay with leading zeros', 'billing.wait.008'],
    ['a fraction', 'billing.wait.8.5'],
    ['no delay', 'billing.wait.'],
    ['a delay beyond the longest', `billing.wait.${2 ** 32 + 1}`],
    ['a delay beyond the number range', `billing.wait.${'9'.repeat(400)}`],
    ['another kind', 'billing.waits.8'],
    ['trailing characters', 'billing.wait.8\n'],
    ['undefined', undefined],
    ['null', null],
    ['a number', 8],
    ['bytes', Buffer.from('billing.wait.8')],
    ['a list', ['billing.wait.8']],
  ])('rejects %s', (_name, value) => {
    expect(isWaitingQueue(value, 'billing')).toBe(false);
  });

  it('distinguishes a waiting queue from a queue with such a name', () => {
    expect(isWaitingQueue('billing.wait.8.wait.8', 'billing.wait.8')).toBe(true);
    expect(isWaitingQueue('billing.wait.8', 'billing.wait.8')).toBe(false);
  });
});
