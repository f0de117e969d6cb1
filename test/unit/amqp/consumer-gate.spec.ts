import { describe, expect, it } from 'vitest';
import { ConsumerGate } from '../../../lib/amqp/consumer-gate';
import { FakeClock } from '../../support/fake-clock';

function setUp() {
  const clock = new FakeClock();
  const closing = new AbortController();
  const applied: boolean[] = [];
  const pauses: number[] = [];
  const gate: ConsumerGate = new ConsumerGate(
    clock,
    closing.signal,
    async () => applied.push(gate.isOpen),
    (ms) => pauses.push(ms),
  );
  return { gate, clock, closing, applied, pauses };
}

describe('ConsumerGate', () => {
  it('is open until it is paused, and again after resume', async () => {
    const { gate, applied } = setUp();
    expect(gate.isOpen).toBe(true);
    await gate.pause();
    gate.resume();
    expect(applied).toEqual([false, true]);
  });

  it('closes for one second after a failed republish', async () => {
    const { gate, clock, applied, pauses } = setUp();
    await gate.pauseAfterFailure();
    await clock.pass(999);
    expect(applied).toEqual([false]);
    await clock.pass(1);
    expect(applied).toEqual([false, true]);
    expect(pauses).toEqual([1_000]);
  });

  it('doubles the pause each time, up to one minute', async () => {
    const { gate, clock, pauses } = setUp();
    for (let failed = 0; failed < 8; failed++) {
      await gate.pauseAfterFailure();
      await clock.pass(60_000);
      expect(gate.isOpen).toBe(true);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('starts with one second again after a message was republished', async () => {
    const { gate, clock, pauses } = setUp();
    await gate.pauseAfterFailure();
    await clock.pass(1_000);
    await gate.pauseAfterFailure();
    await clock.pass(2_000);
    gate.republished();
    await gate.pauseAfterFailure();
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  it('pauses once for failures at the same time', async () => {
    const { gate, clock, pauses } = setUp();
    await Promise.all([
      gate.pauseAfterFailure(),
      gate.pauseAfterFailure(),
      gate.pauseAfterFailure(),
    ]);
    await clock.pass(1_000);
    expect(pauses).toEqual([1_000]);
    expect(gate.isOpen).toBe(true);
  });

  it('stays paused if it was paused during the pause after a failure', async () => {
    const { gate, clock } = setUp();
    await gate.pauseAfterFailure();
    await gate.pause();
    await clock.pass(1_000);
    expect(gate.isOpen).toBe(false);
    gate.resume();
    expect(gate.isOpen).toBe(true);
  });

  it('does not open on resume before the pause after a failure is over', async () => {
    const { gate, clock } = setUp();
    await gate.pauseAfterFailure();
    gate.resume();
    expect(gate.isOpen).toBe(false);
    await clock.pass(1_000);
    expect(gate.isOpen).toBe(true);
  });

  it('never opens after closing, and leaves no timer', async () => {
    const { gate, clock, closing } = setUp();
    await gate.pauseAfterFailure();
    closing.abort();
    await clock.endTurn();
    expect(gate.isOpen).toBe(false);
    expect(clock.pending).toEqual([]);
  });
});
