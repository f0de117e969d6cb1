import { BadRequestException, ForbiddenException } from '@nestjs/common';
import { describe, expect, it, vi } from 'vitest';
import { HandlerTimeoutError, Panic } from '../../../lib/model/errors';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, failureMarkOf, type Outcome, retryAfter } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import type { IsPanic } from '../../../lib/pipeline/classification';
import { catchAll, failureToOutcome } from '../../../lib/pipeline/failure-policy';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { aDelivery, aLog, aMessage, oddValues, RecordingLogger } from '../fixtures';

const before = { entered: false, name: 'RolesGuard' };
const after = { entered: true, name: 'ResponseInterceptor' };

function setUp(options: SubscribeOptions = {}, isPanic?: IsPanic) {
  const logger = new RecordingLogger();
  const delivery = aDelivery(options, aMessage({ properties: { messageId: 'm-1' } }));
  delivery.payload = {};
  const toOutcome = failureToOutcome(aLog(logger), isPanic);
  return { logger, delivery, toOutcome };
}

function outcomeOf(failed: HandlerFailure, options?: SubscribeOptions, isPanic?: IsPanic): Outcome {
  const { toOutcome, delivery } = setUp(options, isPanic);
  return toOutcome(failed, delivery);
}

const policies = {
  onError: [on(HandlerTimeoutError, 'retry'), 'skip'],
  onPanic: 'failFast',
  onInvalidPayload: drop('unreadable'),
  retry: { attempts: 3 },
} as const satisfies SubscribeOptions;

describe('a failure', () => {
  it.each<[string, HandlerFailure, string, string]>([
    ['of the decoder', new HandlerFailure('decode', new Error('x')), 'invalid-payload', 'drop'],
    [
      'of a pipe that rejects the payload',
      new HandlerFailure('enhancer', new BadRequestException(), before),
      'invalid-payload',
      'drop',
    ],
    ['of the body', new HandlerFailure('body', new Error('x')), 'error', 'skip'],
    ['of an interceptor', new HandlerFailure('interceptor', new Error('x')), 'error', 'skip'],
    [
      'of a guard',
      new HandlerFailure('enhancer', new ForbiddenException(), before),
      'error',
      'skip',
    ],
    ['that is a bug', new HandlerFailure('body', new TypeError('x')), 'panic', 'failFast'],
    [
      'of the timeout',
      new HandlerFailure('timeout', new HandlerTimeoutError('too long', 5)),
      'timeout',
      'retry',
    ],
  ])('%s applies its policy', (_name, failed, cause, policy) => {
    const outcome = outcomeOf(failed, policies);
    expect(failureMarkOf(outcome)).toEqual({ cause, policy, error: failed.error });
  });

  it('of the timeout applies the rules of onError', () => {
    const failed = new HandlerFailure('timeout', new HandlerTimeoutError('too long', 5));
    expect(failureMarkOf(outcomeOf(failed, { onError: [on(Error, 'skip')] }))?.policy).toBe('skip');
    expect(failureMarkOf(outcomeOf(failed, {}))?.policy).toBe('drop');
  });

  it('keeps reason and delay of an outcome given as a policy', () => {
    const onInvalidPayload = drop('unreadable');
    expect(outcomeOf(new HandlerFailure('decode', 'x'), { onInvalidPayload })).toMatchObject({
      kind: 'drop',
      reason: 'unreadable',
    });
    expect(outcomeOf(new HandlerFailure('body', 'x'), { onError: retryAfter('7s') }).delay).toBe(
      '7s',
    );
  });

  it.each(oddValues)('with %s has an outcome', (_name, make) => {
    const predicate = vi.fn(() => false);
    const error = make();
    const failed = new HandlerFailure('body', error);
    const outcome = outcomeOf(failed, { onError: [on(predicate, 'retry'), 'skip'] });
    expect(outcome.kind).toBe('ack');
    expect(Object.is(failureMarkOf(outcome)?.error, error)).toBe(true);
    expect(predicate).toHaveBeenCalled();
  });
});

describe("'failFastOnce'", () => {
  it.each<[number, boolean, string]>([
    [1, false, 'failFastOnce'],
    [1, true, 'drop'],
    [2, false, 'drop'],
    [2, true, 'drop'],
  ])('on attempt %i (redelivered: %s) is %s', (attempt, redelivered, policy) => {
    const { toOutcome } = setUp();
    const options = { onPanic: 'failFastOnce' } as const;
    const delivery = aDelivery(options, aMessage({ redelivered }), attempt);
    delivery.payload = {};
    const outcome = toOutcome(new HandlerFailure('body', new TypeError('x')), delivery);
    expect(failureMarkOf(outcome)).toMatchObject({ policy, cause: 'panic' });
  });
});

describe('isPanic of the module', () => {
  it('takes precedence', () => {
    const outcome = outcomeOf(new HandlerFailure('body', new Error('x')), policies, () => true);
    expect(failureMarkOf(outcome)?.cause).toBe('panic');
  });

  it.each(oddValues)('that throws %s is logged, and the default applies', (_name, make) => {
    const { toOutcome, delivery, logger } = setUp(policies, () => {
      throw make();
    });
    expect(
      failureMarkOf(toOutcome(new HandlerFailure('body', new TypeError('x')), delivery))?.cause,
    ).toBe('panic');
    expect(
      failureMarkOf(toOutcome(new HandlerFailure('body', new Error('x')), delivery))?.cause,
    ).toBe('error');
    expect(logger.texts('error')).toEqual(Array(2).fill(expect.stringContaining('isPanic')));
  });
});

describe('a rule that throws', () => {
  it('is logged with its stack and counts as no match', () => {
    const thrown = new Error('broken rule');
    const rule = on(() => {
      throw thrown;
    }, 'failFast');
    const { toOutcome, delivery, logger } = setUp({ onError: [rule, 'skip'] });
    expect(toOutcome(new HandlerFailure('body', new Error('x')), delivery).kind).toBe('ack');
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        text: expect.stringMatching(/^Billing\.charge \[predicate-failed\] .*rule/),
        rest: [thrown.stack, 'Settle'],
      },
    ]);
  });
});

describe('a failure of an enhancer', () => {
  it('is logged with the name of the enhancer and the message id', () => {
    const { toOutcome, delivery, logger } = setUp();
    toOutcome(new HandlerFailure('enhancer', new ForbiddenException(), before), delivery);
    toOutcome(new HandlerFailure('enhancer', new Error('x'), after), delivery);
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/"m-1".*RolesGuard.*before the handler/),
      expect.stringMatching(/"m-1".*ResponseInterceptor.*after the handler/),
    ]);
  });

  it('that is a panic is not logged here, since its result is', () => {
    const { toOutcome, delivery, logger } = setUp();
    toOutcome(new HandlerFailure('enhancer', new Panic('two ledgers'), before), delivery);
    expect(logger.lines).toEqual([]);
  });

  it.each(['body', 'pipe', 'enhancer'] as const)(
    'does not hide the bug of origin %s that it replaced',
    (origin) => {
      const bug = new TypeError('bug');
      const disguised = new HandlerFailure('enhancer', new Error('wrapped'), {
        ...after,
        earlier: [new HandlerFailure(origin, bug, before)],
      });
      expect(failureMarkOf(outcomeOf(disguised, policies))).toEqual({
        cause: 'panic',
        policy: 'failFast',
        error: bug,
      });
    },
  );

  it('replaces the error of the body unless that was a bug', () => {
    const wrapped = new Error('wrapped');
    const earlier = [new HandlerFailure('body', new Error('original'))];
    const failure = failureMarkOf(
      outcomeOf(new HandlerFailure('enhancer', wrapped, { ...after, earlier }), policies),
    );
    expect(failure).toMatchObject({ cause: 'error', error: wrapped });
  });
});

describe('catchAll', () => {
  const { toOutcome, delivery, logger } = setUp({ onError: 'retryAfter' });
  const run = (chain: () => unknown): Promise<Outcome> =>
    catchAll(chain as () => Promise<Outcome>, toOutcome)(delivery);

  it('passes an outcome through, also one of another copy of the package', async () => {
    const outcome = ack();
    expect(await run(async () => outcome)).toBe(outcome);
    const foreign = {
      kind: 'ack',
      [Symbol.for('nestjs-settle.outcome')]: true,
      andAfter: () => {},
    };
    expect(await run(async () => foreign)).toBe(foreign);
  });

  it('applies onError to the error of an interceptor', async () => {
    const error = new Error('no cache');
    expect(failureMarkOf(await run(() => Promise.reject(error)))).toEqual({
      cause: 'error',
      policy: 'retryAfter',
      error,
    });
  });

  it('applies onPanic to the bug of an interceptor', async () => {
    const error = new TypeError('a bug of the interceptor');
    expect(failureMarkOf(await run(() => Promise.reject(error)))).toEqual({
      cause: 'panic',
      policy: 'failFast',
      error,
    });
  });

  it.each(oddValues)('treats %s from an interceptor as a bug', async (_name, make) => {
    // A promise cannot even resolve with a proxy whose traps throw.
    const failure = failureMarkOf(await run(async () => make()));
    expect(failure).toMatchObject({
      cause: 'panic',
      policy: 'failFast',
      error: expect.any(Error),
    });
  });

  it('reports what an interceptor resolved with', async () => {
    const failure = failureMarkOf(await run(async () => 'done'));
    expect(String(failure?.error)).toMatch(/interceptor resolved with a string, which/);
    expect(logger.lines).toEqual([]);
  });
});
