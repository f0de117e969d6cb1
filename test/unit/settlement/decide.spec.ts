import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../lib/model/decision';
import type { Cause } from '../../../lib/model/failure-mark';
import { admit } from '../../../lib/settlement/admit';
import {
  type DecisionOptions,
  decide,
  type EarlierAttempts,
  type Verdict,
} from '../../../lib/settlement/decide';
import table from '../settlement-table.json';

interface Row {
  readonly name: string;
  readonly outcome: Verdict | { readonly arrival: true };
  readonly subscription: DecisionOptions;
  readonly attempt: number;
  readonly counts: boolean;
  readonly countsRequeues?: boolean;
  readonly earlier?: EarlierAttempts;
  readonly expect: Decision | { readonly kind: 'run' };
}

const rows = table.rows as unknown as readonly Row[];

describe('the settlement table', () => {
  it.each(rows)('$name', ({ outcome, subscription, attempt, ...row }) => {
    const { counts, countsRequeues, earlier, expect: expected } = row;
    const decision =
      'arrival' in outcome
        ? (admit(attempt, 0, subscription) ?? { kind: 'run' })
        : decide(outcome, subscription, attempt, counts, countsRequeues, earlier);
    expect(decision).toEqual(expected);
  });

  it('has a row for each decision, and unique names', () => {
    const decisions = new Set(rows.map((row) => row.expect.kind));
    expect([...decisions].sort()).toEqual([
      'ack',
      'deadLetter',
      'leaveUnsettled',
      'none',
      'reject',
      'republish',
      'requeue',
      'run',
    ]);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
  });
});

const by = fc.constantFrom<'client' | 'broker'>('client', 'broker');
const options: fc.Arbitrary<DecisionOptions> = fc.record({
  retry: fc.option(fc.record({ attempts: fc.integer({ min: 1, max: 10 }), by }), {
    nil: undefined,
  }),
  deadLetter: fc.option(fc.record({ by }), { nil: undefined }),
  noAck: fc.boolean(),
});
const cause = fc.constantFrom<Cause>('error', 'timeout', 'invalid-payload', 'unmatched', 'panic');
const delayed = { delayMs: fc.integer({ min: 0, max: 5_000 }), backoff: fc.boolean() };
const ofHandler: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ kind: fc.constantFrom('ack' as const, 'drop' as const, 'retry' as const) }),
  fc.record({ kind: fc.constant('retryAfter' as const), ...delayed }),
);
const ofPolicy: fc.Arbitrary<Verdict> = fc.oneof(
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
const anyVerdict = fc.oneof(ofHandler, ofPolicy);
const anyAttempt = fc.integer({ min: 1, max: 20 });

type Input = [verdict: Verdict, options: DecisionOptions, attempt: number, counts: boolean];

function always(holds: (decision: Decision, ...input: Input) => void): void {
  fc.assert(
    fc.property(anyVerdict, options, anyAttempt, fc.boolean(), (...input: Input) => {
      holds(decide(...input), ...input);
    }),
    { numRuns: 500 },
  );
}

function nameOf(verdict: Verdict): string {
  return 'kind' in verdict ? verdict.kind : verdict.policy;
}

const DECISIONS = new Set(rows.map((row) => row.expect.kind));

describe('decide, for any outcome, subscription, attempt and broker', () => {
  it('makes one decision, the same one each time', () => {
    always((decision, ...input) => {
      expect(DECISIONS).toContain(decision.kind);
      expect(decide(...input)).toEqual(decision);
    });
  });

  it('neither requeues nor republishes at the cap or beyond it', () => {
    always((decision, _verdict, { retry }, attempt) => {
      if (retry === undefined || attempt < retry.attempts) return;
      expect(['republish', 'requeue']).not.toContain(decision.kind);
    });
  });

  it('requeues or republishes every retry below the cap', () => {
    always((decision, verdict, { retry, noAck }, attempt) => {
      if (!nameOf(verdict).startsWith('retry') || noAck) return;
      if (retry !== undefined && attempt >= retry.attempts) return;
      expect(['republish', 'requeue']).toContain(decision.kind);
    });
  });

  it('acknowledges only ack and skip', () => {
    always((decision, verdict) => {
      if (decision.kind === 'ack') expect(['ack', 'skip']).toContain(nameOf(verdict));
      if (nameOf(verdict) === 'drop') expect(decision.kind).not.toBe('ack');
    });
  });

  it('dead-letters or rejects what is dropped', () => {
    always((decision, verdict, { deadLetter, noAck }) => {
      if (nameOf(verdict) !== 'drop' || noAck) return;
      expect(decision.kind).toBe(deadLetter?.by === 'client' ? 'deadLetter' : 'reject');
    });
  });

  it('gives a dead letter the reason `attempts`, `drop` or the cause of the failure', () => {
    always((decision, verdict) => {
      if (decision.kind !== 'deadLetter') return;
      const reason = 'cause' in verdict ? verdict.cause : 'drop';
      expect(decision.reason).toBe(nameOf(verdict) === 'drop' ? reason : 'attempts');
    });
  });

  it('republishes with the next attempt', () => {
    always((decision, _verdict, _options, attempt) => {
      if (decision.kind === 'republish') expect(decision.attempt).toBe(attempt + 1);
    });
  });

  it('republishes with the requested delay', () => {
    always((decision, verdict) => {
      if (decision.kind !== 'republish') return;
      expect(decision.delayMs).toBe('delayMs' in verdict ? verdict.delayMs : 0);
    });
  });

  it("requeues a delayed retry only for the broker's own backoff", () => {
    always((decision, verdict, { retry }, _attempt, counts) => {
      if (decision.kind !== 'requeue' || !('delayMs' in verdict) || verdict.delayMs === 0) return;
      expect(verdict.backoff && counts && retry?.by).toBe('broker');
    });
  });

  it('never requeues a counted retry if the broker does not count redeliveries', () => {
    always((decision, _verdict, { retry }, _attempt, counts) => {
      if (retry !== undefined && !counts) expect(decision.kind).not.toBe('requeue');
    });
  });

  it('leaves a delivery unsettled for failFast alone', () => {
    always((decision, verdict) => {
      expect(decision.kind === 'leaveUnsettled').toBe(nameOf(verdict) === 'failFast');
    });
  });

  it('sends nothing for a noAck subscription', () => {
    always((decision, _verdict, { noAck }) => {
      if (noAck) expect(['none', 'leaveUnsettled']).toContain(decision.kind);
      else expect(decision.kind).not.toBe('none');
    });
  });

  it('warns of a message that is rejected at the cap without a dead-letter queue', () => {
    always((decision, verdict, { deadLetter }) => {
      if (decision.kind !== 'reject') return;
      const isLost = deadLetter === undefined && nameOf(verdict) !== 'drop';
      expect(decision.warn ?? false).toBe(isLost);
    });
  });
});

interface TestedOptions {
  readonly maxAge?: number;
  readonly order?: object;
}

describe('pauseFor, for any subscription, attempt and broker', () => {
  const paused: fc.Arbitrary<Verdict> = fc.oneof(
    fc.record({ kind: fc.constant('pauseFor' as const), pauseMs: fc.nat() }),
    fc.record({ policy: fc.constant('pauseFor' as const), cause, pauseMs: fc.nat() }),
  );

  it('costs no attempt and ends no message', () => {
    fc.assert(
      fc.property(paused, options, anyAttempt, fc.boolean(), fc.boolean(), (...input) => {
        const [verdict, { noAck }, attempt, , countsRequeues] = input;
        const decision = decide(...input);
        expect(decision).toMatchObject({ pauseMs: 'pauseMs' in verdict && verdict.pauseMs });
        if (noAck) expect(decision.kind).toBe('none');
        else if (countsRequeues) {
          expect(decision).toMatchObject({ kind: 'republish', attempt, delayMs: 0 });
        } else expect(decision.kind).toBe('requeue');
      }),
    );
  });

  it.each([
    ['republished, the first time', 'republish', { maxAge: 1_000 }, {}],
    ['requeued, with a time of the first failure', 'requeue', { maxAge: 1_000 }, { ageMs: 9_000 }],
    ['requeued without maxAge', 'requeue', {}, {}],
    ['requeued in its place of an order', 'requeue', { maxAge: 1_000, order: {} }, {}],
  ] as const)('a message is %s', (_what, kind, { order, ...age }: TestedOptions, earlier) => {
    const verdict = { kind: 'pauseFor', pauseMs: 100 } as const;
    const retry = { attempts: 3, ...age };
    const expected = kind === 'requeue' ? { kind } : { kind, attempt: 3, delayMs: 0 };
    const decision = decide(verdict, { retry, order }, 3, true, false, earlier);
    expect(decision).toEqual({ ...expected, pauseMs: 100 });
  });
});

describe('admit', () => {
  it('calls the handler up to the cap and never beyond it', () => {
    fc.assert(
      fc.property(anyAttempt, options, (attempt, given) => {
        const { retry, noAck, deadLetter } = given;
        const decision = admit(attempt, 0, given);
        const isBeyond = !noAck && retry !== undefined && attempt > retry.attempts;
        if (!isBeyond) expect(decision).toBeUndefined();
        else if (deadLetter === undefined) expect(decision).toEqual({ kind: 'reject', warn: true });
        else if (deadLetter.by === 'broker') expect(decision).toEqual({ kind: 'reject' });
        else expect(decision).toEqual({ kind: 'deadLetter', reason: 'attempts' });
      }),
      { numRuns: 500 },
    );
  });

  const retry = { attempts: 3, maxDeliveries: 5 };
  it.each<[number, DecisionOptions, Decision | undefined]>([
    [5, { retry }, undefined],
    // Deliveries alone never cost a message.
    [6, { retry }, undefined],
    [6, { retry, deadLetter: {} }, { kind: 'deadLetter', reason: 'attempts' }],
    [6, { retry, deadLetter: { by: 'broker' } }, { kind: 'reject' }],
    [6, {}, undefined],
    [6, { retry: { attempts: 3 } }, undefined],
    [6, { retry, noAck: true }, undefined],
  ])('decides about a message delivered %i times with %j', (acquired, given, decision) => {
    expect(admit(1, acquired, given)).toEqual(decision);
  });
});
