import { describe, expect, it, vi } from 'vitest';
import { HandlerTimeoutError } from '../../../lib/model/errors';
import { ack, drop, type Outcome, retry } from '../../../lib/model/outcome';
import type { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { timeoutStage } from '../../../lib/pipeline/timeout';
import { FakeClock } from '../../support/fake-clock';
import { aDelivery, HANDLER } from '../fixtures';

const TIMED_OUT = drop('timed out');

function setUp() {
  const clock = new FakeClock();
  const delivery = aDelivery();
  let end: (outcome: Outcome) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const work = new Promise<Outcome>((resolve, reject) => {
    end = resolve;
    fail = reject;
  });
  const settled = vi.fn();
  const failures: HandlerFailure[] = [];
  const toOutcome = (failed: HandlerFailure): Outcome => {
    failures.push(failed);
    return TIMED_OUT;
  };
  const result = Promise.resolve(timeoutStage(clock, 1_000, toOutcome, () => work)(delivery));
  result.then(settled, settled);
  return { clock, delivery, result, settled, end, fail, failures };
}

describe('timeoutStage', () => {
  it('passes the outcome of a handler in time and cancels its timer', async () => {
    const { clock, delivery, result, end } = setUp();
    clock.advance(999);
    end(retry());
    expect(await result).toEqual(retry());
    expect(clock.pending).toEqual([]);
    expect(delivery.signal.aborted).toBe(false);
  });

  it('passes a failure and cancels its timer', async () => {
    const { clock, result, fail } = setUp();
    const error = new Error('why');
    fail(error);
    await expect(result).rejects.toBe(error);
    expect(clock.pending).toEqual([]);
  });

  it('does not keep the process alive', () => {
    const { clock } = setUp();
    expect(clock.pending).toEqual([1_000]);
    expect(clock.keepingAlive).toBe(0);
  });

  it('fails exactly at the limit', async () => {
    const { clock, settled } = setUp();
    await clock.pass(999);
    expect(settled).not.toHaveBeenCalled();
    await clock.pass(1);
    expect(settled).toHaveBeenCalledOnce();
  });

  it('aborts the signal with a HandlerTimeoutError that names the handler', async () => {
    const { clock, delivery, result, failures } = setUp();
    const listener = vi.fn();
    delivery.signal.addEventListener('abort', listener);
    clock.advance(1_000);
    expect(await result).toBe(TIMED_OUT);
    const [failed, ...others] = failures;
    expect(others).toEqual([]);
    expect(failed?.origin).toBe('timeout');
    expect(failed?.error).toBeInstanceOf(HandlerTimeoutError);
    expect(failed?.error).toMatchObject({ timeout: 1_000 });
    expect(String(failed?.error)).toContain(HANDLER);
    expect(delivery.signal.reason).toBe(failed?.error);
    expect(listener).toHaveBeenCalledOnce();
  });

  it.each(['end', 'fail'] as const)('ignores what the handler does later (%s)', async (how) => {
    const stage = setUp();
    stage.clock.advance(1_000);
    if (how === 'end') stage.end(ack());
    else stage.fail(new Error('late'));
    expect(await stage.result).toBe(TIMED_OUT);
    await stage.clock.endTurn();
    expect(stage.settled).toHaveBeenCalledOnce();
  });

  it('counts a handler that ends in reaction to the signal as timed out', async () => {
    const { clock, delivery, result, end } = setUp();
    delivery.signal.addEventListener('abort', () => end(ack()));
    clock.advance(1_000);
    expect(await result).toBe(TIMED_OUT);
  });

  it('keeps the reason of a signal that was already aborted', async () => {
    const { clock, delivery, result, failures } = setUp();
    const reason = new Error('the channel closed');
    delivery.abort(reason);
    clock.advance(1_000);
    expect(await result).toBe(TIMED_OUT);
    expect(failures).toMatchObject([{ error: expect.any(HandlerTimeoutError) }]);
    expect(delivery.signal.reason).toBe(reason);
  });

  it('needs neither timer nor promise for a synchronous handler', () => {
    const clock = new FakeClock();
    const stage = timeoutStage(
      clock,
      1_000,
      () => TIMED_OUT,
      () => retry(),
    );
    expect(stage(aDelivery())).toEqual(retry());
    expect(clock.pending).toEqual([]);
  });

  it('includes the time of decoding and of the synchronous part of the handler', async () => {
    const clock = new FakeClock();
    const stage = timeoutStage(
      clock,
      1_000,
      () => TIMED_OUT,
      () => {
        clock.advance(400);
        return new Promise<Outcome>(() => {});
      },
    );
    const result = stage(aDelivery());
    expect(clock.pending).toEqual([600]);
    clock.advance(600);
    expect(await result).toBe(TIMED_OUT);
  });

  it('is independent of the wall clock', async () => {
    const { clock, settled } = setUp();
    clock.setWall(clock.now() + 86_400_000);
    await clock.pass(999);
    expect(settled).not.toHaveBeenCalled();
  });
});
