import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../lib/model/decision';
import type { Cause } from '../../../lib/model/failure-mark';
import { type DecisionOptions, decide, type Verdict } from '../../../lib/settlement/decide';
import table from '../settlement-table.json';

interface Row {
  readonly name: string;
  readonly outcome: Verdict;
  readonly subscription: DecisionOptions;
  readonly attempt: number;
  readonly counts: boolean;
  readonly expect: Decision;
}

const rows = table.rows as unknown as readonly Row[];

describe('the settlement table', () => {
  it.each(rows)('$name', ({ outcome, subscription, attempt, counts, expect: expected }) => {
    expect(decide(outcome, subscription, attempt, counts)).toEqual(expected);
  });

  it('has a row for each decision, and no two rows of one name', () => {
    const decisions = new Set(rows.map((row) => row.expect.kind));
    expect([...decisions].sort()).toEqual([
      'ack',
      'deadLetter',
      'republish',
      'leaveUnsettled',
      'nothing',
      'reject',
      'requeue',
      'run',
    ]);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });
});

const by = fc.constantFrom<'client' | 'broker'>('client', 'broker');
const terms: fc.Arbitrary<DecisionOptions> = fc.record({
  retry: fc.option(fc.record({ attempts: fc.integer({ min: 1, max: 10 }), by }), {
    nil: undefined,
  }),
  deadLetter: fc.option(fc.record({ by }), { nil: undefined }),
  noAck: fc.boolean(),
});
const cause = fc.constantFrom<Cause>('error', 'timeout', 'invalid-payload', 'panic');
const delayed = { delayMs: fc.integer({ min: 0, max: 5_000 }), backoff: fc.boolean() };
const said: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ kind: fc.constantFrom('ack' as const, 'drop' as const, 'retry' as const) }),
  fc.record({ kind: fc.constant('retryAfter' as const), ...delayed }),
);
const spoken: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({
    policy: fc.constantFrom(
      'failFast' as const,
      'drop' as const,
      'skip' as const,
      'retry' as const,
    ),
    cause,
  }),
  fc.record({ policy: fc.constant('retryAfter' as const), cause, ...delayed }),
);
const arrival = fc.constant<Verdict>({ arrival: true });
const verdict = fc.oneof(said, spoken);
const attempt = fc.integer({ min: 1, max: 20 });

type Input = [verdict: Verdict, terms: DecisionOptions, attempt: number, counts: boolean];

function always(
  verdicts: fc.Arbitrary<Verdict>,
  holds: (decision: Decision, ...input: Input) => void,
): void {
  fc.assert(
    fc.property(verdicts, terms, attempt, fc.boolean(), (...input: Input) => {
      holds(decide(...input), ...input);
    }),
    { numRuns: 500 },
  );
}

function nameOf(one: Verdict): string {
  if ('arrival' in one) return 'arrival';
  return 'kind' in one ? one.kind : one.policy;
}

const DECISIONS = new Set(rows.map((row) => row.expect.kind));

describe('for any outcome, subscription, attempt and broker', () => {
  it('there is one decision, and the same one each time', () => {
    always(fc.oneof(verdict, arrival), (decision, ...input) => {
      expect(DECISIONS).toContain(decision.kind);
      expect(decide(...input)).toEqual(decision);
    });
  });

  it('the handler runs on arrival only, and else only at the cap is it not', () => {
    always(arrival, (decision, _verdict, { retry, noAck }, n) => {
      const isBeyond = !noAck && retry !== undefined && n > retry.attempts;
      expect(decision.kind === 'run').toBe(!isBeyond);
      if (isBeyond) expect(['reject', 'deadLetter']).toContain(decision.kind);
    });
    always(verdict, (decision) => expect(decision.kind).not.toBe('run'));
  });

  it('nothing goes back, by copy or by itself, at the cap or beyond it', () => {
    always(verdict, (decision, _verdict, { retry }, n) => {
      if (retry === undefined || n < retry.attempts) return;
      expect(['republish', 'requeue']).not.toContain(decision.kind);
    });
  });

  it('a retry below the cap is never the end of a message', () => {
    always(verdict, (decision, asked, { retry, noAck }, n) => {
      if (!nameOf(asked).startsWith('retry') || noAck) return;
      if (retry !== undefined && n >= retry.attempts) return;
      expect(['republish', 'requeue']).toContain(decision.kind);
    });
  });

  it('only ack and skip acknowledge, and nothing that asked to be dropped does', () => {
    always(verdict, (decision, asked) => {
      if (decision.kind === 'ack') expect(['ack', 'skip']).toContain(nameOf(asked));
      if (nameOf(asked) === 'drop') expect(decision.kind).not.toBe('ack');
    });
  });

  it('what is dropped goes to the declared dead letter, or is rejected', () => {
    always(verdict, (decision, asked, { deadLetter, noAck }) => {
      if (nameOf(asked) !== 'drop' || noAck) return;
      expect(decision.kind).toBe(deadLetter?.by === 'client' ? 'deadLetter' : 'reject');
    });
  });

  it('a dead letter’s reason is the cap, or why the policy was asked, or the drop', () => {
    always(fc.oneof(verdict, arrival), (decision, asked) => {
      if (decision.kind !== 'deadLetter') return;
      const why = 'cause' in asked ? asked.cause : 'drop';
      expect(decision.reason).toBe(nameOf(asked) === 'drop' ? why : 'attempts');
    });
  });

  it('the attempt of a copy is the next one', () => {
    always(verdict, (decision, _verdict, _terms, n) => {
      if (decision.kind === 'republish') expect(decision.attempt).toBe(n + 1);
    });
  });

  it('no copy waits longer or shorter than was asked', () => {
    always(verdict, (decision, asked) => {
      if (decision.kind !== 'republish') return;
      expect(decision.delayMs).toBe('delayMs' in asked ? asked.delayMs : 0);
    });
  });

  it('a delay is waited for: it is a copy, but where the broker delays its own backoff', () => {
    always(verdict, (decision, asked, { retry }, _n, counts) => {
      if (decision.kind !== 'requeue' || !('delayMs' in asked) || asked.delayMs === 0) return;
      expect(asked.backoff && counts && retry?.by).toBe('broker');
    });
  });

  it('where nobody but we can count, a declared retry is a copy that carries the count', () => {
    always(verdict, (decision, _verdict, { retry }, _n, counts) => {
      if (retry !== undefined && !counts) expect(decision.kind).not.toBe('requeue');
    });
  });

  it('failFast leaves the delivery unsettled, and nothing else does', () => {
    always(verdict, (decision, asked) => {
      expect(decision.kind === 'leaveUnsettled').toBe(nameOf(asked) === 'failFast');
    });
  });

  it('nothing is sent for a noAck subscription', () => {
    always(fc.oneof(verdict, arrival), (decision, _verdict, { noAck }) => {
      if (noAck) expect(['nothing', 'leaveUnsettled', 'run']).toContain(decision.kind);
      else expect(decision.kind).not.toBe('nothing');
    });
  });

  it('a message that is rejected at the cap is warned of, unless a dead letter takes it', () => {
    always(fc.oneof(verdict, arrival), (decision, asked, { deadLetter }) => {
      if (decision.kind !== 'reject') return;
      const lost = deadLetter === undefined && nameOf(asked) !== 'drop';
      expect(decision.warn ?? false).toBe(lost);
    });
  });
});

describe('what the broker has handed out too often', () => {
  const retry = { attempts: 3, maxDeliveries: 5 };
  it.each<[number, DecisionOptions, Decision]>([
    [5, { retry }, { kind: 'run' }],
    [6, { retry }, { kind: 'reject', warn: true }],
    [6, { retry, deadLetter: {} }, { kind: 'deadLetter', reason: 'attempts' }],
    [6, { retry, deadLetter: { by: 'broker' } }, { kind: 'reject' }],
    [6, {}, { kind: 'run' }],
    [6, { retry: { attempts: 3 } }, { kind: 'run' }],
    [6, { retry, noAck: true }, { kind: 'run' }],
  ])('%i times under %j', (acquired, subscription, decision) => {
    expect(decide({ arrival: true, acquired }, subscription, 1, true)).toEqual(decision);
  });
});
