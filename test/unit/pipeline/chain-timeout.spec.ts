import { describe, expect, it, vi } from 'vitest';
import { HandlerTimeoutError } from '../../../lib/model/errors';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, failureMarkOf, type Outcome } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { type ChainDependencies, chainOf } from '../../../lib/pipeline/chain';
import { FakeClock } from '../../support/fake-clock';
import { aDelivery, aLog, aSubscription } from '../fixtures';

const TWO_SECONDS: SubscribeOptions = {
  timeout: '2s',
  onError: [on(HandlerTimeoutError, 'retry'), 'drop'],
};

/** A chain whose parts can wait on its clock. */
function setUp(
  parts: (wait: (ms: number) => Promise<void>) => Partial<ChainDependencies>,
  options = TWO_SECONDS,
) {
  const clock = new FakeClock();
  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.after(ms, resolve);
    });
  const chain = chainOf({
    subscription: aSubscription(options),
    call: () => ack(),
    clock,
    log: aLog(),
    interceptors: [],
    ...parts(wait),
  });
  return { clock, run: async (): Promise<Outcome> => chain(aDelivery(options)) };
}

const never = (): Promise<never> => new Promise(() => {});

describe('timeout in the chain', () => {
  it.each<[string, Partial<ChainDependencies>]>([
    ['the handler', { call: never }],
    ['the decoder', { deserializer: never }],
  ])('covers %s, applies the rules of onError and leaves no timer', async (_name, parts) => {
    const { run, clock } = setUp(() => parts);
    const running = run();
    await clock.pass(2_000);
    expect(failureMarkOf(await running)).toMatchObject({ cause: 'timeout', policy: 'retry' });
    expect(clock.pending).toEqual([]);
  });

  it('covers decoding and handler together', async () => {
    const { run, clock } = setUp((wait) => ({
      call: () => wait(1_200),
      deserializer: () => wait(1_200),
    }));
    const running = run();
    await clock.pass(2_000);
    expect(failureMarkOf(await running)?.cause).toBe('timeout');
  });

  it('accepts decoding and handler that end just in time', async () => {
    const { run, clock } = setUp((wait) => ({
      call: () => wait(999),
      deserializer: () => wait(1_000),
    }));
    const running = run();
    await clock.pass(1_999);
    expect(await running).toEqual(ack());
  });

  it('does not call the handler if decoding ends too late', async () => {
    const call = vi.fn();
    const { run, clock } = setUp((wait) => ({ call, deserializer: () => wait(2_001) }));
    const running = run();
    await clock.pass(3_000);
    expect(failureMarkOf(await running)?.cause).toBe('timeout');
    expect(call).not.toHaveBeenCalled();
  });

  it('does not classify a failure that follows the timeout', async () => {
    const isPanic = vi.fn(() => undefined);
    const { run, clock } = setUp((wait) => ({
      isPanic,
      call: () => wait(3_000).then(() => Promise.reject(new TypeError('late'))),
    }));
    const running = run();
    await clock.pass(2_000);
    expect(failureMarkOf(await running)?.cause).toBe('timeout');
    isPanic.mockClear();
    await clock.pass(2_000);
    expect(isPanic).not.toHaveBeenCalled();
  });

  it('does not cover interceptors of the application', async () => {
    const { run, clock } = setUp((wait) => ({
      interceptors: [
        async (_delivery, next) => {
          const outcome = await next();
          await wait(60_000);
          return outcome;
        },
      ],
    }));
    const running = run();
    await clock.pass(60_000);
    expect(await running).toEqual(ack());
  });

  it('is absent without the option', async () => {
    const { run, clock } = setUp(() => ({ call: never }), {});
    void run();
    await clock.endTurn();
    expect(clock.pending).toEqual([]);
  });
});
