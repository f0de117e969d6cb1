import fc from 'fast-check';
import { of, throwError } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import type { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import { Panic } from '../../../lib/model/errors';
import type { DeliveryInterceptor } from '../../../lib/model/interceptor';
import type { SubscribeOptions } from '../../../lib/model/options';
import {
  ack,
  drop,
  failureMarkOf,
  isOutcome,
  type Outcome,
  retry,
} from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { type ChainDependencies, chainOf } from '../../../lib/pipeline/chain';
import { FakeClock } from '../../support/fake-clock';
import { aDelivery, aLog, aMessage, aSubscription, oddValues, RecordingLogger } from '../fixtures';

interface Given
  extends Partial<Pick<ChainDependencies, 'interceptors' | 'isPanic' | 'deserializer'>> {
  readonly call?: (delivery: DeliveryRecord) => unknown;
  readonly options?: SubscribeOptions;
  readonly content?: string;
}

function setUp({ call = () => undefined, options = {}, content = '{"id":7}', ...parts }: Given) {
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const subscription = aSubscription(options);
  const chain = chainOf({
    subscription,
    call,
    clock,
    log: aLog(logger, clock),
    interceptors: [],
    ...parts,
  });
  const run = (delivery = aDelivery(options, aMessage({ content }))): Promise<Outcome> =>
    Promise.resolve(chain(delivery));
  return { run, clock, logger };
}

function throwing(error: unknown): () => never {
  return () => {
    throw error;
  };
}

describe('the chain', () => {
  it("resolves with the handler's outcome for the decoded payload", async () => {
    const call = vi.fn((delivery: DeliveryRecord) => drop(JSON.stringify(delivery.payload)));
    const outcome = await setUp({ call }).run();
    expect(outcome).toMatchObject({ kind: 'drop', reason: '{"id":7}' });
    expect(failureMarkOf(outcome)).toBeUndefined();
    expect(call).toHaveBeenCalledOnce();
  });

  it.each<[string, Given, string, string]>([
    ['an error', { call: throwing(new Error('x')) }, 'error', 'drop'],
    ['a bug', { call: throwing(new TypeError('x')) }, 'panic', 'failFast'],
    ['a failed Observable', { call: () => throwError(() => new Error('x')) }, 'error', 'drop'],
    ['a body that is not JSON', { content: '{' }, 'invalid-payload', 'drop'],
    [
      'a handler that cannot handle null',
      { content: 'null', call: ({ payload }) => (payload as { id: number }).id },
      'invalid-payload',
      'drop',
    ],
    [
      'an error that a rule matches',
      {
        call: throwing(new Error('x', { cause: new RangeError('y') })),
        options: { onError: [on(RangeError, 'skip')] },
      },
      'error',
      'skip',
    ],
    [
      'an error that isPanic recognises',
      { call: throwing('x'), isPanic: (e) => e === 'x' },
      'panic',
      'failFast',
    ],
    [
      'an isPanic that returns a promise',
      { call: throwing('x'), isPanic: (async () => true) as never },
      'error',
      'drop',
    ],
    [
      'an isPanic whose promise rejects',
      { call: throwing('x'), isPanic: (async () => Promise.reject(new Error('y'))) as never },
      'error',
      'drop',
    ],
    ['an isPanic that throws', { call: throwing('x'), isPanic: throwing('y') }, 'error', 'drop'],
    ['an interceptor that throws', { interceptors: [throwing(new Error('x'))] }, 'error', 'drop'],
    [
      'an interceptor with a bug',
      { interceptors: [throwing(new TypeError('x'))] },
      'panic',
      'failFast',
    ],
    [
      'an interceptor that panics',
      { interceptors: [throwing(new Panic('x'))] },
      'panic',
      'failFast',
    ],
    [
      'an interceptor that resolves with another value',
      { interceptors: [async () => 'ok' as never], options: { onPanic: 'skip' } },
      'panic',
      'skip',
    ],
    [
      'an interceptor that returns nothing',
      { interceptors: [() => undefined as never] },
      'panic',
      'failFast',
    ],
  ])('applies a policy after %s', async (_name, given, cause, policy) => {
    expect(failureMarkOf(await setUp(given).run())).toMatchObject({ cause, policy });
  });

  it('does not call the handler for an invalid payload', async () => {
    const call = vi.fn();
    await setUp({ call, content: '{' }).run();
    expect(call).not.toHaveBeenCalled();
  });

  it.each(oddValues)('resolves with an outcome if the handler throws %s', async (_name, make) => {
    const outcome = await setUp({ call: throwing(make()), options: { onError: 'skip' } }).run();
    expect(failureMarkOf(outcome)).toMatchObject({ cause: 'error', policy: 'skip' });
  });

  it('always resolves with an outcome', async () => {
    // Created where it is used, since fast-check inspects the values that it generates.
    const plain = fc.anything().map((value) => (): unknown => value);
    const value = fc.oneof(plain, fc.constantFrom(...oddValues.map(([, make]) => make)));
    const action = fc.record({
      value,
      how: fc.constantFrom('return', 'throw', 'reject', 'stream'),
    });
    const answer = fc.record({ value, how: fc.constantFrom('return', 'throw') });
    const perform = ({ value: make, how }: { value: () => unknown; how: string }): unknown => {
      if (how === 'throw') throw make();
      if (how === 'reject') return Promise.reject(make());
      return how === 'stream' ? of(make()) : make();
    };
    await fc.assert(
      fc.asyncProperty(
        action,
        fc.option(action),
        fc.option(action),
        fc.option(answer),
        async (body, user, decoder, panicCheck) => {
          const { run } = setUp({
            call: () => perform(body),
            interceptors: user ? [(() => perform(user)) as DeliveryInterceptor] : [],
            ...(decoder && { deserializer: () => perform(decoder) }),
            ...(panicCheck && { isPanic: () => perform(panicCheck) as boolean }),
          });
          expect(isOutcome(await run())).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('interceptors of the application', () => {
  it('see only outcomes: of the handler, of policies and of each other', async () => {
    const seen: string[] = [];
    const observe: DeliveryInterceptor = async (_delivery, next) => {
      const outcome = await next();
      seen.push(outcome.kind);
      return outcome;
    };
    await setUp({ interceptors: [observe], call: () => retry() }).run();
    await setUp({ interceptors: [observe], call: throwing(new Error('x')) }).run();
    await setUp({
      interceptors: [observe],
      content: '{',
      options: { onInvalidPayload: 'skip' },
    }).run();
    expect(seen).toEqual(['retry', 'drop', 'ack']);
  });

  it('run outermost first and can replace the outcome', async () => {
    const order: string[] = [];
    const outer: DeliveryInterceptor = async (_delivery, next) => {
      order.push('outer');
      return (await next()).kind === 'ack' ? drop('by the outer interceptor') : ack();
    };
    const inner: DeliveryInterceptor = (_delivery, next) => {
      order.push('inner');
      return next();
    };
    const { run } = setUp({ interceptors: [outer, inner], call: () => order.push('handler') });
    expect(await run()).toMatchObject({ reason: 'by the outer interceptor' });
    expect(order).toEqual(['outer', 'inner', 'handler']);
  });

  it('pass on the error of the handler', async () => {
    const error = new Error('x');
    const { run } = setUp({ interceptors: [(_delivery, next) => next()], call: throwing(error) });
    expect(failureMarkOf(await run())?.error).toBe(error);
  });

  it('run before the payload is decoded', async () => {
    let before: unknown = 'not seen';
    const observe: DeliveryInterceptor = (delivery, next) => {
      before = delivery.payload;
      return next();
    };
    await setUp({ interceptors: [observe] }).run();
    expect(before).toBeUndefined();
  });
});

describe('an unexpected result', () => {
  it('is logged once per subscription, without what is in it', async () => {
    const { run, logger } = setUp({ call: () => ({ data: 'retry' }) });
    for (let count = 0; count < 3; count++) expect(await run()).toEqual(ack());
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/^Billing\.charge \[unexpected-result\] .*returned an object, which/),
    ]);
  });

  it('is logged for each subscription', async () => {
    for (let count = 0; count < 2; count++) {
      const { run, logger } = setUp({ call: () => true });
      await run();
      expect(logger.texts('warn')).toHaveLength(1);
    }
  });

  it('does not include undefined', async () => {
    const { run, logger } = setUp({});
    await run();
    expect(logger.lines).toEqual([]);
  });
});

describe('deserializers', () => {
  it('take precedence: subscription, connection, then JSON', async () => {
    const call = ({ payload }: DeliveryRecord): Outcome => drop(String(payload));
    const options = { deserializer: () => 'subscription' };
    const connection = { call, deserializer: () => 'connection', content: '{' };
    expect((await setUp({ ...connection, options }).run()).reason).toBe('subscription');
    expect((await setUp(connection).run()).reason).toBe('connection');
  });

  it('are not needed for text with allowNonJsonMessages', async () => {
    const call = ({ payload }: DeliveryRecord): Outcome => drop(String(payload));
    const given = { call, content: 'plain', options: { allowNonJsonMessages: true } };
    expect((await setUp(given).run()).reason).toBe('plain');
  });
});
