import { describe, expect, it } from 'vitest';
import { RepublishError, type RepublishFailureScope } from '../../../lib/model/errors';
import type { SubscribeOptions } from '../../../lib/model/options';
import { drop, retryAfter } from '../../../lib/model/outcome';
import { decisionUnpublished } from '../../../lib/settlement/decide';
import { aSettler, failedWith, republishResults } from './settler-fixtures';

const RETRY = { kind: 'republish', attempt: 2, delayMs: 0 } as const;
const DEAD = { kind: 'deadLetter', reason: 'error' } as const;

describe('decisionUnpublished', () => {
  const rejected = { kind: 'reject', warn: true };
  const dead = { kind: 'deadLetter', reason: 'republish-failed' };
  it.each<
    [
      RepublishFailureScope,
      typeof RETRY | typeof DEAD,
      'client' | 'broker' | undefined,
      object | undefined,
    ]
  >([
    ['message', RETRY, 'client', dead],
    ['message', RETRY, 'broker', { kind: 'reject' }],
    ['message', RETRY, undefined, rejected],
    ['message', DEAD, 'client', rejected],
    ['target', RETRY, 'client', dead],
    ['target', RETRY, 'broker', { kind: 'reject' }],
    ['target', RETRY, undefined, undefined],
    ['target', DEAD, 'client', undefined],
    ['broker', RETRY, 'client', undefined],
    ['broker', DEAD, 'client', undefined],
  ])('%s, %o, deadLetter by %s', (scope, failed, by, expected) => {
    expect(decisionUnpublished(failed, scope, by ? { deadLetter: { by } } : {})).toEqual(expected);
  });
});

function failure(scope: RepublishFailureScope) {
  const error = new RepublishError('406: too large', { scope, replyCode: 406 });
  return { status: 'failed', tries: 2, error } as const;
}

describe('a message that cannot be republished', () => {
  const options: SubscribeOptions = { retry: { attempts: 3 }, deadLetter: 'billing.dead' };

  it('is dead-lettered if it was to be retried, with what could not be done in the line', async () => {
    const { settler, inFlight, brokerDelivery, steps, settlements, clock, logger } = aSettler({
      options,
    });
    settler.settle(inFlight, retryAfter('1s'));
    const { error } = failure('message');
    brokerDelivery.answer(failure('message'));
    await clock.endTurn();
    expect(brokerDelivery.published[1]?.message.headers).toMatchObject({
      'x-settle-reason': 'republish-failed',
      'x-settle-error-name': 'RepublishError',
      'x-settle-error-message': '406: too large',
    });
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(steps).toEqual([
      'republish to retry',
      'republish to deadLetter',
      'ack',
      'settled: sent',
      'finished',
    ]);
    expect(settlements).toMatchObject([
      {
        decision: { kind: 'deadLetter', reason: 'republish-failed' },
        republished: { queue: 'billing.dead' },
        republishError: error,
      },
    ]);
    expect(logger.lines.map(({ level, text }) => [level, text])).toEqual([
      [
        'error',
        'Billing.charge [dead-lettered] message "m-1" (queue "billing", attempt 1 of 3): could not be published to "billing.wait.1000" (406: too large); moved to "billing.dead", reason "republish-failed".',
      ],
    ]);
  });

  it('keeps the error of its handler in the dead letter', async () => {
    const { settler, inFlight, brokerDelivery, clock } = aSettler({ options });
    settler.settle(inFlight, failedWith('retryAfter', 'error', new RangeError('no answer')));
    brokerDelivery.answer(failure('target'));
    await clock.endTurn();
    expect(brokerDelivery.published[1]?.message.headers).toMatchObject({
      'x-settle-reason': 'republish-failed',
      'x-settle-error-message': 'no answer',
    });
  });

  it('is rejected if its dead letter is refused as well, without a pause', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock, logger } = aSettler({ options });
    settler.settle(inFlight, drop());
    brokerDelivery.answer(failure('message'));
    await clock.endTurn();
    expect(steps).toEqual(['republish to deadLetter', 'reject', 'settled: sent', 'finished']);
    expect(logger.texts('error')).toEqual([
      expect.stringMatching(
        /\[rejected\] message "m-1" .*: could not be published to "billing\.dead" \(406: too large\); rejected; RabbitMQ deletes it unless/,
      ),
    ]);
  });

  it('is requeued with a pause if only the queue is refused and nothing else keeps it', async () => {
    const { settler, inFlight, brokerDelivery, steps, settlements, clock } = aSettler({
      options: { retry: { attempts: 3 } },
    });
    settler.settle(inFlight, retryAfter('1s'));
    brokerDelivery.answer(failure('target'));
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toEqual([
      'republish to retry',
      'pause',
      'cancelled',
      'requeueUnprocessed',
      'settled: republishFailed',
      'finished',
    ]);
    expect(settlements).toMatchObject([{ republishError: { replyCode: 406 } }]);
  });

  it('is reported to the subscription although nothing subscribes to settlements', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({
      options,
      isObserved: false,
    });
    settler.settle(inFlight, retryAfter('1s'));
    brokerDelivery.answer(republishResults.failed);
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toContain('settled: republishFailed');
  });
});

describe('a message that is published without something', () => {
  it('shows what was published, and has a line that names what is missing', async () => {
    const { settler, inFlight, brokerDelivery, settlements, clock, logger } = aSettler({
      options: { retry: { attempts: 3 } },
    });
    settler.settle(inFlight, retryAfter('1s'));
    const leftOut = { properties: ['messageId'], headers: ['x-settle-exchange'] };
    brokerDelivery.answer({ status: 'confirmed', reduced: { leftOut, refusal: undefined } });
    await clock.endTurn();
    const republished = settlements[0]?.republished;
    expect(republished?.properties).toEqual({});
    expect(republished?.headers).toMatchObject({ 'x-settle-attempt': 2 });
    expect(republished?.headers).not.toHaveProperty('x-settle-exchange');
    expect(logger.texts('error')).toEqual([
      'Billing.charge [headers-dropped] message "m-1" (queue "billing", attempt 1 of 3): published to "billing.wait.1000" without messageId, header "x-settle-exchange": not encodable, or too large for a frame.',
    ]);
  });

  it('has the reply of the broker in that line if it was refused', async () => {
    const { settler, inFlight, brokerDelivery, clock, logger } = aSettler({
      options: { retry: { attempts: 3 } },
    });
    settler.settle(inFlight, retryAfter('1s'));
    const headers = Array.from({ length: 12 }, (_, index) => `h${index}`);
    const refusal = new RepublishError('541 (INTERNAL-ERROR)', { scope: 'broker', replyCode: 541 });
    const leftOut = { properties: [], headers };
    brokerDelivery.answer({ status: 'confirmed', reduced: { leftOut, refusal } });
    await clock.endTurn();
    expect(logger.texts('error')[0]).toMatch(
      /without header "h0", .*, header "h9" and 2 more: RabbitMQ refused the whole message \(541 \(INTERNAL-ERROR\)\)\.$/,
    );
  });
});
