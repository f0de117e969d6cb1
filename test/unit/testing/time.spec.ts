import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Delivery, fixed, type Outcome, retryAfter, Subscribe } from '../../../lib';
import { systemClock } from '../../../lib/clock';
import { start } from './app';

type Rest = [unknown, unknown, Delivery];

describe('time', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it("can advance beyond the limit of Node's timers", async () => {
    @Injectable()
    class Reminder {
      @Subscribe({ queue: 'reminder' })
      remind(_payload: unknown, ...rest: Rest): Outcome | void {
        if (rest[2].attempt === 1) return retryAfter('30d');
      }
    }
    const test = await start({ providers: [Reminder] });
    expect(await test.deliver(Reminder, 'remind', 1)).toMatchObject({ delay: 30 * 86_400_000 });
    await test.advance('29d');
    expect(test.settlements(Reminder, 'remind')).toHaveLength(1);
    await test.advance('5d');
    expect(test.settlements(Reminder, 'remind')).toMatchObject([
      {},
      { attempt: 2, outcome: 'ack' },
    ]);
  });

  it('triggers the timeout of a handler', async () => {
    @Injectable()
    class Slow {
      reason: unknown;

      @Subscribe({ queue: 'slow', timeout: '30s' })
      handle(_payload: unknown, ...rest: Rest): Promise<void> {
        rest[2].signal.addEventListener('abort', () => {
          this.reason = rest[2].signal.reason;
        });
        return new Promise(() => {});
      }
    }
    const test = await start({ providers: [Slow] });
    const delivered = test.deliver(Slow, 'handle', 1);
    await test.advance('29s');
    expect(test.settlements(Slow, 'handle')).toEqual([]);
    await test.advance('1s');
    expect(await delivered).toMatchObject({
      decision: 'reject',
      error: { name: 'HandlerTimeoutError' },
    });
    expect(test.get(Slow).reason).toMatchObject({ name: 'HandlerTimeoutError' });
  });

  it('waits for the real work of running handlers', async () => {
    @Injectable()
    class Worker {
      @Subscribe({ queue: 'worker', retry: { attempts: 4 } })
      async handle(_payload: unknown, ...rest: Rest): Promise<Outcome | void> {
        await sleep(5);
        if (rest[2].attempt < 4) return retryAfter('1m');
      }
    }
    const test = await start({ providers: [Worker] });
    await test.publish('', 'worker', 1);
    await test.advance('5m');
    expect(test.settlements(Worker, 'handle').map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4]);
  });

  it("is real with clock: 'real'", async () => {
    @Injectable()
    class Worker {
      @Subscribe({ queue: 'worker' })
      handle(_payload: unknown, ...rest: Rest): Outcome | void {
        if (rest[2].attempt === 1) return retryAfter(50);
      }
    }
    const test = await start({ providers: [Worker] }, { clock: 'real' });
    const begin = performance.now();
    await test.deliver(Worker, 'handle', 1);
    await test.advance(60);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(50);
    expect(test.settlements(Worker, 'handle')).toHaveLength(2);
  });

  it('rejects idle() with the reason after 4 s, before a test runner gives up', async () => {
    const monotonic = systemClock.monotonic;
    vi.spyOn(systemClock, 'monotonic').mockImplementation(() => 40 * monotonic());
    @Injectable()
    class Slow {
      @Subscribe({ queue: 'slow' })
      handle(): Promise<void> {
        return new Promise(() => {});
      }
    }
    const test = await start({ providers: [Slow] });
    await test.publish('', 'slow', 1);
    const begin = systemClock.monotonic();
    await expect(test.idle()).rejects.toThrow('Not idle after 4s: 1 message in flight');
    expect(systemClock.monotonic() - begin).toBeGreaterThan(4_000);
  });

  it.each([-1, Number.NaN, '50 days' as never, '50d' as const])(
    'cannot advance by %s',
    async (span) => {
      const test = await start({ providers: [] });
      await expect(test.advance(span)).rejects.toThrow(RangeError);
    },
  );

  it('is independent of fake timers', async () => {
    vi.useFakeTimers();
    @Injectable()
    class Worker {
      @Subscribe({ queue: 'worker', retry: { attempts: 2 }, deadLetter: 'worker.dead' })
      async handle(): Promise<Outcome> {
        return retryAfter('1m');
      }
    }
    const test = await start({ providers: [Worker] });
    expect(await test.deliver(Worker, 'handle', 1)).toMatchObject({ delay: 60_000 });
    await vi.advanceTimersByTimeAsync(3_600_000);
    await test.idle();
    expect(test.settlements(Worker, 'handle')).toHaveLength(1);
    await test.advance('65s');
    expect(test.settlements(Worker, 'handle')).toHaveLength(2);
    expect(await test.queue('worker.dead')).toMatchObject({ ready: 1 });
    await test.close();
  });
});

describe('a delay', () => {
  it.each([
    ['of the backoff', () => retryAfter()],
    ['of the handler', () => retryAfter('15m')],
  ])('%s ends when the clock has advanced by it', async (_name, outcome) => {
    @Injectable()
    class Reminder {
      @Subscribe({ queue: 'reminder', retry: { attempts: 2, backoff: fixed('15m') } })
      remind(_payload: unknown, ...rest: Rest): Outcome | void {
        if (rest[2].attempt === 1) return outcome();
      }
    }
    const test = await start({ providers: [Reminder] });
    await test.deliver(Reminder, 'remind', 1);
    await test.advance(15 * 60_000 - 1);
    expect(test.settlements(Reminder, 'remind')).toHaveLength(1);
    await test.advance(1);
    expect(test.settlements(Reminder, 'remind')).toHaveLength(2);
  });
});
