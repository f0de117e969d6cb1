import { describe, expect, it } from 'vitest';
import { accountOf, type Entries } from '../../../faults/harness/account';
import { Ledger } from '../../../faults/harness/ledger';
import { Random } from '../../../faults/harness/random';

/** A ledger with as many successes of a message as it is named. */
function ledgerOf({ run = [], succeeded = [] }: { run?: number[]; succeeded?: number[] }): Ledger {
  const ledger = new Ledger();
  for (const n of [...run, ...succeeded]) ledger.began(n, { attempt: 1, at: 0, instance: 1 });
  for (const n of succeeded) ledger.succeeded(n, 1, 1);
  return ledger;
}

const entries = (some: Partial<Entries>): Entries => ({
  confirmed: [1],
  ledger: ledgerOf({}),
  queued: [],
  deadLettered: [],
  inFlightAtFaults: 0,
  ...some,
});

describe('the account of a run under faults', () => {
  it('finds a confirmed message that has only begun and is in no queue', () => {
    const ledger = ledgerOf({ run: [1, 2], succeeded: [2] });
    expect(accountOf(entries({ confirmed: [1, 2], ledger }))).toMatchObject({ lost: [1] });
  });

  it('finds nothing lost that has succeeded, is queued, or is dead-lettered', () => {
    const ledger = ledgerOf({ succeeded: [1] });
    const account = accountOf(
      entries({ confirmed: [1, 2, 3], ledger, queued: [2], deadLettered: [3] }),
    );
    expect(account).toMatchObject({ lost: [], stuck: [2], duplicates: 0 });
  });

  it('counts each result beyond the first, and those that the faults do not explain', () => {
    const ledger = ledgerOf({ succeeded: [1, 1, 2] });
    const some = { confirmed: [1, 2], ledger, deadLettered: [2, 2] };
    expect(accountOf(entries({ ...some, inFlightAtFaults: 3 }))).toMatchObject({
      duplicates: 3,
      unexplained: 0,
    });
    expect(accountOf(entries({ ...some, inFlightAtFaults: 2 })).unexplained).toBe(1);
  });

  it('leaves out messages without a confirm', () => {
    expect(accountOf(entries({ confirmed: [] }))).toMatchObject({ confirmed: 0, lost: [] });
  });
});

describe('the ledger of a run under faults', () => {
  it('refuses a success without a run', () => {
    expect(() => ledgerOf({}).succeeded(1, 1, 1)).toThrow('message 1 succeeded without a run');
  });
});

describe('random numbers of a run under faults', () => {
  it('are the same for the same seed', () => {
    const draw = (seed: number) => {
      const random = new Random(seed);
      return Array.from({ length: 20 }, () => random.integer(1, 6));
    };
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(new Set(draw(7))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
  });
});
