import { describe, expect, it } from 'vitest';
import { Pauses } from '../../../lib/lifecycle/pauses';
import type { PauseCause } from '../../../lib/model/subscription-status';
import { FakeClock } from '../../support/fake-clock';

function setUp() {
  const clock = new FakeClock();
  const ended: PauseCause[] = [];
  return { clock, ended, pauses: new Pauses(clock, (cause) => ended.push(cause)) };
}

describe('the causes of a pause', () => {
  it('begin and end independently; the most important is the cause', async () => {
    const { pauses, clock, ended } = setUp();
    expect(pauses.cause).toBeUndefined();
    pauses.begin('republishFailed', 1_000);
    pauses.begin('tripped');
    expect(pauses.cause).toBe('tripped');
    pauses.begin('operator');
    expect(pauses.cause).toBe('operator');
    await clock.pass(1_000);
    expect(ended).toEqual(['republishFailed']);
    expect(pauses.end('operator')).toBe(true);
    expect(pauses.cause).toBe('tripped');
    expect(pauses.end('tripped')).toBe(true);
    expect(pauses.end('tripped')).toBe(false);
    expect(pauses.cause).toBeUndefined();
  });

  it('are never cut short by another of the same kind', async () => {
    const { pauses, clock, ended } = setUp();
    expect(pauses.begin('pauseFor', 1_000)).toBe(true);
    expect(pauses.begin('pauseFor', 500)).toBe(false);
    await clock.pass(600);
    expect(pauses.begin('pauseFor', 1_000)).toBe(true);
    await clock.pass(999);
    expect(ended).toEqual([]);
    await clock.pass(1);
    expect(ended).toEqual(['pauseFor']);
    expect(pauses.begin('operator')).toBe(true);
    expect(pauses.begin('operator', 5)).toBe(false);
    await clock.pass(5);
    expect(pauses.cause).toBe('operator');
  });

  it('leave no timer behind', () => {
    const { pauses, clock } = setUp();
    pauses.begin('pauseFor', 1_000);
    pauses.begin('republishFailed', 1_000);
    pauses.end('pauseFor');
    pauses.stop();
    expect(clock.pending).toEqual([]);
    expect(pauses.cause).toBe('republishFailed');
  });
});
