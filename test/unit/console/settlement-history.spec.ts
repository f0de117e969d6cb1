import { describe, expect, it } from 'vitest';
import { MINUTES, SettlementHistory } from '../../../lib/console/settlement-history';
import type { Decision } from '../../../lib/model/decision';
import { ack, drop } from '../../../lib/model/outcome';
import type { Settlement } from '../../../lib/model/settlement';
import { aDelivery, aMessage, aSubscription, QUEUE } from '../fixtures';

const MINUTE = 60_000;
const START = Date.parse('2026-12-01T08:00:00.000Z');

function settlement(
  decision: Decision,
  { properties, ...parts }: Partial<Settlement> & { properties?: object } = {},
): Settlement {
  return {
    subscription: aSubscription(),
    delivery: aDelivery({}, aMessage({ properties: { ...properties } })),
    outcome: ack(),
    ...{ decision, attempt: 1, durationMs: 5, status: 'sent' },
    ...parts,
  };
}

const acknowledged = settlement({ kind: 'ack' });
const failed = settlement({ kind: 'reject' }, { error: new RangeError('no') });

/** The last minutes of a series; all before them are 0. */
function lastOf(series: readonly number[], count: number): readonly number[] {
  expect(series).toHaveLength(MINUTES);
  expect(series.slice(0, MINUTES - count).every((one) => one === 0)).toBe(true);
  return series.slice(MINUTES - count);
}

describe('the history of a subscription', () => {
  it.each([
    [{ kind: 'ack' }, undefined, 'acknowledged'],
    [{ kind: 'none' }, undefined, 'acknowledged'],
    [{ kind: 'ack' }, new Error('skipped'), 'failed'],
    [{ kind: 'none' }, new Error('ignored'), 'failed'],
    [{ kind: 'requeue' }, new Error('again'), 'retried'],
    [{ kind: 'republish', attempt: 2, delayMs: 5 }, undefined, 'retried'],
    [{ kind: 'reject' }, undefined, 'failed'],
    [{ kind: 'deadLetter', reason: 'error' }, new Error('dead'), 'failed'],
    [{ kind: 'leaveUnsettled' }, new Error('panic'), 'failed'],
  ] as [Decision, unknown, 'acknowledged' | 'retried' | 'failed'][])(
    'counts %o with the error %s as %s',
    (decision, error, result) => {
      const history = new SettlementHistory();
      history.record(settlement(decision, { error }), START);
      for (const [name, series] of Object.entries(history.series(START))) {
        expect(lastOf(series, 1)).toEqual([name === result ? 1 : 0]);
      }
      expect(history.failures).toHaveLength(result === 'acknowledged' ? 0 : 1);
    },
  );

  it('does not count what was requeued without an attempt', () => {
    const history = new SettlementHistory();
    history.record(settlement({ kind: 'requeue' }, { status: 'released' }), START);
    expect(lastOf(history.series(START).retried, 0)).toEqual([]);
    expect(history.failures).toEqual([]);
  });

  it('has the present minute last and forgets what is an hour old', () => {
    const history = new SettlementHistory();
    history.record(acknowledged, START);
    history.record(acknowledged, START + MINUTE - 1);
    history.record(failed, START + MINUTE);
    history.record(acknowledged, START + 3 * MINUTE);
    const at = START + 3 * MINUTE;
    expect(lastOf(history.series(at).acknowledged, 4)).toEqual([2, 0, 0, 1]);
    expect(lastOf(history.series(at).failed, 4)).toEqual([0, 1, 0, 0]);
    const later = history.series(START + 59 * MINUTE);
    expect(later.acknowledged[0]).toBe(2);
    const anHour = history.series(START + 60 * MINUTE);
    expect(anHour.acknowledged.slice(0, 3)).toEqual([0, 0, 1]);
    expect(anHour.failed.slice(0, 3)).toEqual([1, 0, 0]);
  });

  it.each([60, 61, 1_000])('is empty after a pause of %i minutes', (minutes) => {
    const history = new SettlementHistory();
    for (let minute = 0; minute < MINUTES; minute += 1) {
      history.record(acknowledged, START + minute * MINUTE);
    }
    const end = START + (MINUTES - 1 + minutes) * MINUTE;
    history.record(failed, end);
    const series = history.series(end);
    expect(lastOf(series.acknowledged, 0)).toEqual([]);
    expect(lastOf(series.failed, 1)).toEqual([1]);
  });

  it('counts in the last minute if the clock was set back', () => {
    const history = new SettlementHistory();
    history.record(acknowledged, START);
    history.record(acknowledged, START - 10 * MINUTE);
    expect(lastOf(history.series(START - 5 * MINUTE).acknowledged, 1)).toEqual([2]);
  });

  it('keeps the last 20 failures, the newest first, with short texts', () => {
    const history = new SettlementHistory();
    const long = 'x'.repeat(10_000);
    class LongName extends Error {
      override readonly name = long;
    }
    for (let number = 1; number <= 1_000; number += 1) {
      const error = new LongName(`${number} ${long}`);
      const properties = { messageId: `${number}-${long}` };
      history.record(settlement({ kind: 'reject' }, { error, properties }), START + number);
    }
    expect(history.failures).toHaveLength(20);
    const [newest] = history.failures;
    expect(newest).toMatchObject({ at: '2026-12-01T08:00:01.000Z', attempt: 1, durationMs: 5 });
    expect(newest?.errorMessage).toMatch(/^1000 x+…$/);
    expect(history.failures.at(-1)?.errorMessage).toMatch(/^981 /);
    for (const { errorMessage, errorName, messageId } of history.failures) {
      expect(errorMessage).toHaveLength(500);
      expect(errorName).toHaveLength(100);
      expect(messageId).toHaveLength(100);
    }
    expect(JSON.stringify(history.failures).length).toBeLessThan(30_000);
  });

  it('shows the reason of an outcome, and any thrown value', () => {
    const history = new SettlementHistory();
    const outcome = drop('no such customer');
    history.record(settlement({ kind: 'reject' }, { outcome }), START);
    history.record(settlement({ kind: 'reject' }, { error: { toString: 'none' } }), START);
    history.record(settlement({ kind: 'reject' }, { error: null }), START);
    expect(history.failures.at(-1)?.errorMessage).toBe('no such customer');
    for (const { errorMessage, messageId } of history.failures) {
      expect(typeof errorMessage).toBe('string');
      expect(messageId).toBeUndefined();
    }
  });

  it('knows the waiting queues to which messages were published, at most 64 of them', () => {
    const history = new SettlementHistory();
    const sent = (queue: string): void => {
      const republished = { queue, delayMs: 5, body: Buffer.alloc(0), properties: {}, headers: {} };
      history.record(
        settlement({ kind: 'republish', attempt: 2, delayMs: 5 }, { republished }),
        START,
      );
    };
    for (const queue of [QUEUE, 'other.wait.100', `${QUEUE}.dead`]) sent(queue);
    expect([...history.waitingQueues]).toEqual([]);
    for (let ms = 1; ms <= 1_000; ms += 1) sent(`${QUEUE}.wait.${ms}`);
    expect(history.waitingQueues.size).toBe(64);
    expect(history.waitingQueues).toContain(`${QUEUE}.wait.1`);
  });
});
