import { describe, expect, it } from 'vitest';
import {
  type StateChange,
  SubscriptionStateRecord,
} from '../../../lib/lifecycle/subscription-state';
import { FakeClock } from '../../support/fake-clock';

function setUp() {
  const clock = new FakeClock();
  const changes: StateChange[] = [];
  const record = new SubscriptionStateRecord(clock, (change) => changes.push(change));
  const steps = (): string[] => changes.map(({ from, to, cause }) => `${from} ${to} ${cause}`);
  return { clock, changes, record, steps };
}

describe('the state of a subscription', () => {
  it('reports each change of the state or of the cause once, with the error', () => {
    const { record, changes, clock, steps } = setUp();
    const [failed, lost] = [new Error('failed'), new Error('lost')];
    record.enter('consuming');
    record.enter('consuming');
    record.pausedBy('republishFailed', failed);
    record.pausedBy('operator');
    record.pausedBy('operator');
    record.pausedBy('republishFailed');
    record.pausedBy(undefined);
    record.enter('consuming');
    record.enter('reconnecting', lost);
    record.enter('stopped');
    record.enter('consuming');
    expect(steps()).toEqual([
      'starting consuming undefined',
      'consuming paused republishFailed',
      'paused paused operator',
      'paused paused republishFailed',
      'paused reconnecting undefined',
      'reconnecting consuming undefined',
      'consuming reconnecting undefined',
      'reconnecting stopped undefined',
    ]);
    const at = new Date(clock.now());
    expect(changes[1]).toEqual({
      from: 'consuming',
      to: 'paused',
      cause: 'republishFailed',
      error: failed,
      at,
    });
    expect(changes[0]).not.toHaveProperty('error');
    expect(changes[6]).toMatchObject({ error: lost });
  });

  it('stays paused whatever the connection does', () => {
    const { record, steps } = setUp();
    record.enter('consuming');
    record.pausedBy('operator');
    record.enter('reconnecting', new Error('lost'));
    record.enter('consuming');
    expect(record).toMatchObject({ state: 'paused', cause: 'operator' });
    expect(steps()).toHaveLength(2);
  });

  it('has no cause once it is stopped or disabled', () => {
    const { record } = setUp();
    record.pausedBy('operator');
    record.enter('stopped');
    expect(record).toMatchObject({ state: 'stopped', cause: undefined });
    record.pausedBy(undefined);
    expect(record.state).toBe('stopped');
    const other = setUp().record;
    other.enter('disabled');
    other.pausedBy('operator');
    other.pausedBy(undefined);
    expect(other).toMatchObject({ state: 'disabled', cause: undefined });
  });

  it('is as old as its last change', async () => {
    const { record, clock } = setUp();
    record.enter('consuming');
    await clock.pass(1_000);
    record.enter('consuming');
    expect(record.since).toEqual(new Date(clock.now() - 1_000));
    record.pausedBy('operator');
    expect(record.since).toEqual(new Date(clock.now()));
  });
});
