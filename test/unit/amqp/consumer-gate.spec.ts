import { describe, expect, it } from 'vitest';
import { Intake } from '../../../lib/amqp/intake';
import { FakeClock } from '../../support/fake-clock';

function setUp() {
  const clock = new FakeClock();
  const closing = new AbortController();
  const applied: boolean[] = [];
  const pauses: number[] = [];
  const intake: Intake = new Intake(
    clock,
    closing.signal,
    async () => applied.push(intake.isOpen),
    (ms) => pauses.push(ms),
  );
  return { intake, clock, closing, applied, pauses };
}

describe('an intake', () => {
  it('is open until it is paused, and again when it is resumed', async () => {
    const { intake, applied } = setUp();
    expect(intake.isOpen).toBe(true);
    await intake.pause();
    intake.resume();
    expect(applied).toEqual([false, true]);
  });

  it('stops for a second after a failed copy, and goes on by itself', async () => {
    const { intake, clock, applied, pauses } = setUp();
    await intake.pauseAfterFailure();
    await clock.pass(999);
    expect(applied).toEqual([false]);
    await clock.pass(1);
    expect(applied).toEqual([false, true]);
    expect(pauses).toEqual([1_000]);
  });

  it('stops twice as long each time, and a minute at most', async () => {
    const { intake, clock, pauses } = setUp();
    for (let failed = 0; failed < 8; failed++) {
      await intake.pauseAfterFailure();
      await clock.pass(60_000);
      expect(intake.isOpen).toBe(true);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it('begins with a second again after a copy has gone through', async () => {
    const { intake, clock, pauses } = setUp();
    await intake.pauseAfterFailure();
    await clock.pass(1_000);
    await intake.pauseAfterFailure();
    await clock.pass(2_000);
    intake.copied();
    await intake.pauseAfterFailure();
    expect(pauses).toEqual([1_000, 2_000, 1_000]);
  });

  it('stops once for several copies that fail together', async () => {
    const { intake, clock, pauses } = setUp();
    await Promise.all([
      intake.pauseAfterFailure(),
      intake.pauseAfterFailure(),
      intake.pauseAfterFailure(),
    ]);
    await clock.pass(1_000);
    expect(pauses).toEqual([1_000]);
    expect(intake.isOpen).toBe(true);
  });

  it('that was paused meanwhile stays paused', async () => {
    const { intake, clock } = setUp();
    await intake.pauseAfterFailure();
    await intake.pause();
    await clock.pass(1_000);
    expect(intake.isOpen).toBe(false);
    intake.resume();
    expect(intake.isOpen).toBe(true);
  });

  it('that is resumed while it backs off waits for the end of that', async () => {
    const { intake, clock } = setUp();
    await intake.pauseAfterFailure();
    intake.resume();
    expect(intake.isOpen).toBe(false);
    await clock.pass(1_000);
    expect(intake.isOpen).toBe(true);
  });

  it('never opens once it closes, and keeps no timer', async () => {
    const { intake, clock, closing } = setUp();
    await intake.pauseAfterFailure();
    closing.abort();
    await clock.endTurn();
    expect(intake.isOpen).toBe(false);
    expect(clock.pending).toEqual([]);
  });
});
