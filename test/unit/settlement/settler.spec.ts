import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, type Outcome, retry, retryAfter } from '../../../lib/model/outcome';
import { aSettler, failedWith, republishResults } from './settler-fixtures';

const republishing: SubscribeOptions = { retry: { attempts: 3 }, deadLetter: 'billing.dead' };

describe('settle', () => {
  it.each<[string, Outcome, string]>([
    ['ack()', ack(), 'ack'],
    ['drop()', drop(), 'reject'],
    ['retry()', retry(), 'requeueFailed'],
    ['the policy skip', failedWith('skip'), 'ack'],
    ['the policy drop', failedWith('drop'), 'reject'],
  ])('sends one frame for %s, then emits the settlement', (_name, outcome, action) => {
    const { settler, inFlight, steps, settlements, delivery, subscription } = aSettler();
    settler.settle(inFlight, outcome);
    expect(steps).toEqual([action, 'settled: sent', 'finished']);
    expect(settlements).toMatchObject([{ subscription, delivery, outcome, attempt: 1 }]);
  });

  it('abandons a delivery whose channel has closed', () => {
    const { settler, inFlight, brokerDelivery, steps, logger } = aSettler();
    brokerDelivery.isOpen = false;
    settler.settle(inFlight, ack());
    expect(steps).toEqual(['ack', 'settled: abandoned', 'finished']);
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/\[not-acknowledged\] message "m-1" .*its channel closed first/),
    ]);
  });

  it('settles once: later outcomes send nothing', async () => {
    const { settler, inFlight, steps, clock } = aSettler();
    settler.settle(inFlight, ack());
    settler.settle(inFlight, drop());
    settler.requeue(inFlight, retry());
    await clock.endTurn();
    expect(steps).toEqual(['ack', 'settled: sent', 'finished']);
  });

  it('reports the duration and the error of the handler', () => {
    const { settler, inFlight, settlements, clock } = aSettler();
    const error = new Error('why');
    clock.advance(120);
    clock.setWall(0);
    settler.settle(inFlight, failedWith('drop', 'timeout', error));
    expect(settlements).toMatchObject([{ durationMs: 120, error, decision: { kind: 'reject' } }]);
    expect(Object.isFrozen(settlements[0])).toBe(true);
  });

  it('reports no error for an outcome of the handler', () => {
    const { settler, inFlight, settlements } = aSettler();
    settler.settle(inFlight, drop('why'));
    expect(settlements[0]).not.toHaveProperty('error');
    expect(settlements[0]).not.toHaveProperty('republished');
  });

  it('emits nothing without a listener, except for abandoned deliveries', () => {
    const sent = aSettler({ isObserved: false });
    sent.settler.settle(sent.inFlight, ack());
    expect(sent.steps).toEqual(['ack', 'finished']);
    const abandoned = aSettler({ isObserved: false });
    abandoned.brokerDelivery.isOpen = false;
    abandoned.settler.settle(abandoned.inFlight, ack());
    expect(abandoned.steps).toEqual(['ack', 'settled: abandoned', 'finished']);
  });
});

describe('republishing', () => {
  it('acknowledges the delivery only after the message is confirmed', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(inFlight, retry());
    await clock.endTurn();
    expect(steps).toEqual(['republish to retry']);
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(steps).toEqual(['republish to retry', 'ack', 'settled: sent', 'finished']);
  });

  it('logs nothing before the message is confirmed', async () => {
    const { settler, inFlight, brokerDelivery, clock, logger } = aSettler({
      options: republishing,
    });
    settler.settle(inFlight, failedWith('drop'));
    await clock.endTurn();
    expect(logger.lines).toEqual([]);
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(logger.texts()).toEqual([
      'Billing.charge [dead-lettered] message "m-1" (queue "billing", attempt 1 of 3): moved to "billing.dead", reason "error". Error: the bank is closed',
    ]);
  });

  it('carries the next attempt and the delay', () => {
    const { settler, inFlight, brokerDelivery } = aSettler({ options: republishing, attempt: 2 });
    settler.settle(inFlight, retryAfter('7s'));
    expect(brokerDelivery.published).toMatchObject([
      {
        target: { to: 'retry', delayMs: 7_000 },
        message: { headers: { 'x-settle-attempt': 3 } },
      },
    ]);
  });

  it.each([true, false])('adds reason and error to a dead letter (stack: %s)', (stack) => {
    const error = new RangeError('why');
    const deadLetter = { queue: 'billing.dead', stack };
    const { settler, inFlight, brokerDelivery } = aSettler({ options: { deadLetter } });
    settler.settle(inFlight, failedWith(drop('no such account'), 'error', error));
    const [published] = brokerDelivery.published;
    expect(inFlight.republished).toMatchObject({ queue: 'billing.dead', delayMs: 0 });
    expect(published?.target).toMatchObject({ to: 'deadLetter' });
    expect(published?.message.headers).toMatchObject({
      'x-settle-reason': 'error',
      'x-settle-error-name': 'RangeError',
      'x-settle-error-message': 'no such account',
    });
    expect('x-settle-error-stack' in (published?.message.headers ?? {})).toBe(stack);
  });

  it('uses reason `attempts` and keeps the last error', () => {
    const { settler, inFlight, brokerDelivery } = aSettler({ options: republishing, attempt: 3 });
    settler.settle(inFlight, failedWith('retry', 'timeout', new Error('too long')));
    expect(brokerDelivery.published[0]?.message.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-error-message': 'too long',
      'x-settle-attempts-made': 3,
    });
  });

  it('requeues the delivery if it fails, once the consumer is cancelled, and never rejects it', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock, logger } = aSettler({
      options: republishing,
    });
    settler.settle(inFlight, failedWith('drop'));
    brokerDelivery.answer(republishResults.failed);
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toEqual([
      'republish to deadLetter',
      'pause',
      'cancelled',
      'requeueUnprocessed',
      'settled: republishFailed',
      'finished',
    ]);
    expect(logger.texts()).toEqual([
      'Billing.charge [republish-failed] message "m-1" (queue "billing", attempt 1 of 3): could not be published to "billing.dead" (5 tries, last: the queue is full). Requeued. Error: the bank is closed',
    ]);
  });

  it('abandons the delivery if it fails and the channel has closed', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(inFlight, retry());
    brokerDelivery.isOpen = false;
    brokerDelivery.answer(republishResults.failed);
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['settled: abandoned', 'finished']);
  });

  it('sends nothing once the delivery is lost', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(inFlight, retry());
    brokerDelivery.answer(republishResults.lost);
    await clock.endTurn();
    expect(steps).toEqual(['republish to retry', 'settled: abandoned', 'finished']);
  });

  it.each(['confirmed', 'failed', 'lost'] as const)(
    'ignores a %s result that arrives after shutdown gave up',
    async (status) => {
      const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({
        options: republishing,
      });
      settler.settle(inFlight, retry());
      inFlight.givenUp = true;
      inFlight.requeue?.();
      const before = [...steps];
      expect(before).toEqual([
        'republish to retry',
        'requeueUnprocessed',
        'settled: released',
        'finished',
      ]);
      brokerDelivery.answer(republishResults[status]);
      await clock.endTurn();
      await clock.endTurn();
      expect(steps).toEqual(before);
    },
  );

  it('requeues once if shutdown gives up while the consumer is being cancelled', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(inFlight, retry());
    brokerDelivery.answer(republishResults.failed);
    await Promise.resolve();
    await Promise.resolve();
    expect(steps).toContain('pause');
    inFlight.givenUp = true;
    inFlight.requeue?.();
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.filter((step) => step === 'requeueUnprocessed')).toHaveLength(1);
    expect(steps.filter((step) => step === 'finished')).toHaveLength(1);
  });

  it('reports the published message with the settlement', async () => {
    const { settler, inFlight, brokerDelivery, settlements, clock } = aSettler({
      options: republishing,
    });
    settler.settle(inFlight, retryAfter('1s'));
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(settlements[0]?.republished).toMatchObject({
      queue: 'billing.wait.1000',
      delayMs: 1_000,
      headers: { 'x-settle-attempt': 2 },
    });
  });

  it('publishes to the queue itself if there is no delay', () => {
    const { settler, inFlight } = aSettler({ options: republishing });
    settler.settle(inFlight, retry());
    expect(inFlight.republished).toMatchObject({ queue: 'billing', delayMs: 0 });
  });
});

describe('retryAfter', () => {
  it('logs an invalid delay and uses the backoff', () => {
    const { settler, inFlight, brokerDelivery, logger } = aSettler({ options: republishing });
    settler.settle(inFlight, retryAfter(-1));
    expect(brokerDelivery.published[0]?.target).toMatchObject({ to: 'retry', delayMs: 1_000 });
    expect(logger.texts('error')).toEqual([
      expect.stringMatching(/^Billing\.charge \[invalid-delay\] message "m-1" .*retryAfter\(-1\)/),
    ]);
  });

  it('retries immediately on a server-named queue, with a warning', () => {
    const { settler, inFlight, steps, logger } = aSettler({
      options: { queue: undefined as never },
    });
    settler.settle(inFlight, retryAfter('5s'));
    expect(steps).toEqual(['requeueFailed', 'settled: sent', 'finished']);
    expect(logger.texts('error')).toEqual([]);
    expect(logger.texts('warn')).toContainEqual(
      expect.stringMatching(
        /^Billing\.charge \[delay-ignored\] message "m-1" .*server-named queue/,
      ),
    );
  });
});

describe('failFast', () => {
  it('leaves the delivery unsettled and shuts the application down', () => {
    const { settler, inFlight, steps, logger } = aSettler({ options: republishing });
    settler.settle(inFlight, failedWith('failFast', 'panic', new TypeError('bug')));
    expect(steps).toEqual(['leave', 'fail fast: TypeError: bug', 'settled: none', 'finished']);
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        text: expect.stringMatching(/\[fail-fast\] message "m-1".* TypeError: bug$/),
        rest: [expect.stringContaining('bug'), 'Settle'],
      },
    ]);
  });

  it('logs that the message of a noAck subscription was already removed', () => {
    const { settler, inFlight, steps, logger } = aSettler({ options: { noAck: true } });
    settler.settle(inFlight, failedWith('failFast', 'panic', new TypeError('bug')));
    expect(steps).toContain('fail fast: TypeError: bug');
    expect(logger.texts('error')).toEqual([expect.stringMatching(/already removed .*\(noAck\)/)]);
  });
});

describe('during shutdown', () => {
  it.each(['error', 'timeout', 'panic'] as const)(
    'requeues a failure (%s) once the consumer is cancelled',
    async (cause) => {
      const { settler, inFlight, steps, clock } = aSettler({
        options: republishing,
        isStopping: true,
      });
      settler.settle(inFlight, failedWith('failFast', cause));
      expect(steps).toEqual([]);
      await clock.endTurn();
      await clock.endTurn();
      expect(steps).toEqual(['cancelled', 'requeueUnprocessed', 'settled: released', 'finished']);
    },
  );

  it.each<[string, Outcome, string]>([
    ['drop()', drop(), 'reject'],
    ['an invalid payload', failedWith('drop', 'invalid-payload'), 'reject'],
    ['ack()', ack(), 'ack'],
  ])('settles %s as usual', (_name, outcome, action) => {
    const { settler, inFlight, steps } = aSettler({ isStopping: true });
    settler.settle(inFlight, outcome);
    expect(steps[0]).toBe(action);
  });

  it('logs that a failed noAck message is lost', async () => {
    const { settler, inFlight, steps, settlements, logger, clock } = aSettler({
      options: { noAck: true },
      isStopping: true,
    });
    settler.settle(inFlight, failedWith('drop'));
    await clock.endTurn();
    expect(steps).toEqual(['settled: none', 'finished']);
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/\[no-ack\] message "m-1" .*lost/),
    ]);
    expect(settlements[0]?.decision).toEqual({ kind: 'none' });
  });

  it('abandons a delivery whose channel has closed', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ isStopping: true });
    brokerDelivery.isOpen = false;
    settler.settle(inFlight, failedWith('drop'));
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['settled: abandoned', 'finished']);
  });

  it('ignores a second outcome of a requeued delivery', async () => {
    const { settler, inFlight, steps, logger, clock } = aSettler({ isStopping: true });
    settler.settle(inFlight, failedWith('drop'));
    settler.settle(inFlight, ack());
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toEqual(['cancelled', 'requeueUnprocessed', 'settled: released', 'finished']);
    expect(logger.texts('log')).toEqual([
      expect.stringMatching(/\[requeued\] message "m-1".*stopping/),
    ]);
  });

  it('requeues once if it gives up before the consumer is cancelled', async () => {
    const { settler, inFlight, steps, clock } = aSettler({ isStopping: true });
    settler.settle(inFlight, failedWith('drop'));
    inFlight.givenUp = true;
    inFlight.requeue?.();
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.filter((step) => step === 'requeueUnprocessed')).toHaveLength(1);
    expect(steps.filter((step) => step === 'finished')).toHaveLength(1);
  });
});

describe('a noAck subscription', () => {
  it.each([ack(), drop(), retry(), retryAfter('1s'), failedWith('drop')])(
    'sends nothing for %o',
    (outcome) => {
      const { settler, inFlight, steps } = aSettler({ options: { noAck: true } });
      settler.settle(inFlight, outcome);
      expect(steps).toEqual(['settled: none', 'finished']);
    },
  );
});
