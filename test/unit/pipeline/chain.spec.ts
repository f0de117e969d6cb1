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

describe('a delivery’s way through the chain', () => {
  it('ends in what the handler says of the decoded payload', async () => {
    const call = vi.fn((delivery: DeliveryRecord) => drop(JSON.stringify(delivery.payload)));
    const outcome = await setUp({ call }).run();
    expect(outcome).toMatchObject({ kind: 'drop', reason: '{"id":7}' });
    expect(failureMarkOf(outcome)).toBeUndefined();
    expect(call).toHaveBeenCalledOnce();
  });

  it.each<[string, Given, string, string]>([
    ['an error', { call: throwing(new Error('x')) }, 'error', 'drop'],
    ['a bug', { call: throwing(new TypeError('x')) }, 'panic', 'failFast'],
    ['a failed stream', { call: () => throwError(() => new Error('x')) }, 'error', 'drop'],
    ['a body that is no JSON', { content: '{' }, 'invalid-payload', 'drop'],
    [
      'a handler that can not bear null',
      { content: 'null', call: ({ payload }) => (payload as { id: number }).id },
      'invalid-payload',
      'drop',
    ],
    [
      'an error under a rule',
      {
        call: throwing(new Error('x', { cause: new RangeError('y') })),
        options: { onError: [on(RangeError, 'skip')] },
      },
      'error',
      'skip',
    ],
    [
      'a bug that the module knows',
      { call: throwing('x'), isPanic: (e) => e === 'x' },
      'panic',
      'failFast',
    ],
    [
      'an isPanic that answers with a promise',
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
      'an interceptor that resolves with nonsense',
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
  ])('after %s is decided by a policy', async (_name, given, cause, policy) => {
    expect(failureMarkOf(await setUp(given).run())).toMatchObject({ cause, policy });
  });

  it('calls no handler for what does not decode', async () => {
    const call = vi.fn();
    await setUp({ call, content: '{' }).run();
    expect(call).not.toHaveBeenCalled();
  });

  it.each(oddValues)('ends in an outcome when the handler throws %s', async (_name, make) => {
    const outcome = await setUp({ call: throwing(make()), options: { onError: 'skip' } }).run();
    expect(failureMarkOf(outcome)).toMatchObject({ cause: 'error', policy: 'skip' });
  });

  it('always resolves with an outcome, whoever does what', async () => {
    // Made where it is used: fast-check itself looks at what it hands out.
    const plain = fc.anything().map((value) => (): unknown => value);
    const value = fc.oneof(plain, fc.constantFrom(...oddValues.map(([, make]) => make)));
    const deed = fc.record({ value, how: fc.constantFrom('return', 'throw', 'reject', 'stream') });
    const answer = fc.record({ value, how: fc.constantFrom('return', 'throw') });
    const does = ({ value: make, how }: { value: () => unknown; how: string }): unknown => {
      if (how === 'throw') throw make();
      if (how === 'reject') return Promise.reject(make());
      return how === 'stream' ? of(make()) : make();
    };
    await fc.assert(
      fc.asyncProperty(
        deed,
        fc.option(deed),
        fc.option(deed),
        fc.option(answer),
        async (body, user, decoder, judge) => {
          const { run } = setUp({
            call: () => does(body),
            interceptors: user ? [(() => does(user)) as DeliveryInterceptor] : [],
            ...(decoder && { deserializer: () => does(decoder) }),
            ...(judge && { isPanic: () => does(judge) as boolean }),
          });
          expect(isOutcome(await run())).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the application’s interceptors', () => {
  it('see outcomes only: of the handler, of a policy, and of one another', async () => {
    const seen: string[] = [];
    const see: DeliveryInterceptor = async (_delivery, next) => {
      const outcome = await next();
      seen.push(outcome.kind);
      return outcome;
    };
    await setUp({ interceptors: [see], call: () => retry() }).run();
    await setUp({ interceptors: [see], call: throwing(new Error('x')) }).run();
    await setUp({ interceptors: [see], content: '{', options: { onInvalidPayload: 'skip' } }).run();
    expect(seen).toEqual(['retry', 'drop', 'ack']);
  });

  it('run outermost first and may replace the outcome', async () => {
    const order: string[] = [];
    const outer: DeliveryInterceptor = async (_delivery, next) => {
      order.push('outer');
      return (await next()).kind === 'ack' ? drop('by the outer one') : ack();
    };
    const inner: DeliveryInterceptor = (_delivery, next) => {
      order.push('inner');
      return next();
    };
    const { run } = setUp({ interceptors: [outer, inner], call: () => order.push('handler') });
    expect(await run()).toMatchObject({ reason: 'by the outer one' });
    expect(order).toEqual(['outer', 'inner', 'handler']);
  });

  it('keep what was thrown further in, where they hand it on', async () => {
    const error = new Error('x');
    const { run } = setUp({ interceptors: [(_delivery, next) => next()], call: throwing(error) });
    expect(failureMarkOf(await run())?.error).toBe(error);
  });

  it('run before the payload is decoded', async () => {
    let before: unknown = 'not seen';
    const see: DeliveryInterceptor = (delivery, next) => {
      before = delivery.payload;
      return next();
    };
    await setUp({ interceptors: [see] }).run();
    expect(before).toBeUndefined();
  });
});

describe('a result that means nothing', () => {
  it('is warned of once for the subscription, with what was found', async () => {
    const { run, logger } = setUp({ call: () => ({ data: 'retry' }) });
    for (let count = 0; count < 3; count++) expect(await run()).toEqual(ack());
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/^Billing\.charge \[unexpected-result\] .*data: 'retry'/),
    ]);
  });

  it('is warned of for each subscription', async () => {
    for (let count = 0; count < 2; count++) {
      const { run, logger } = setUp({ call: () => true });
      await run();
      expect(logger.texts('warn')).toHaveLength(1);
    }
  });

  it('is not nothing', async () => {
    const { run, logger } = setUp({});
    await run();
    expect(logger.lines).toEqual([]);
  });
});

describe('the deserializer', () => {
  it('of the subscription goes before that of the connection, and both before JSON', async () => {
    const call = ({ payload }: DeliveryRecord): Outcome => drop(String(payload));
    const options = { deserializer: () => 'the subscription’s' };
    const connection = { call, deserializer: () => 'the connection’s', content: '{' };
    expect((await setUp({ ...connection, options }).run()).reason).toBe('the subscription’s');
    expect((await setUp(connection).run()).reason).toBe('the connection’s');
  });

  it('is not needed for text, where allowNonJsonMessages says so', async () => {
    const call = ({ payload }: DeliveryRecord): Outcome => drop(String(payload));
    const given = { call, content: 'plain', options: { allowNonJsonMessages: true } };
    expect((await setUp(given).run()).reason).toBe('plain');
  });
});
