import { describe, expect, it } from 'vitest';
import { RepublishError } from '../../../lib/model/errors';
import { pauseFor } from '../../../lib/model/outcome';
import { aSettler, failedWith, republishResults } from './settler-fixtures';

const OPTIONS = { retry: { attempts: 3 } } as const;

describe('pauseFor()', () => {
  it('requeues the message without an attempt once the consumer is cancelled', async () => {
    const { settler, inFlight, steps, settlements, clock } = aSettler({ options: OPTIONS });
    settler.settle(inFlight, pauseFor('30s'));
    await clock.endTurn();
    expect(steps).toEqual([
      'pause for 30000',
      'cancelled',
      'requeueUnprocessed',
      'settled: sent',
      'finished',
    ]);
    expect(settlements[0]).toMatchObject({ decision: { kind: 'requeue', pauseMs: 30_000 } });
  });

  it('republishes the same attempt where RabbitMQ counts the requeue', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({
      options: OPTIONS,
      attempt: 3,
      countsRedeliveries: true,
    });
    brokerDelivery.countsRequeues = true;
    settler.settle(inFlight, pauseFor('30s'));
    await clock.endTurn();
    expect(steps).toEqual(['pause for 30000', 'cancelled', 'republish to retry']);
    const [published] = brokerDelivery.published;
    expect(published?.target).toMatchObject({ to: 'retry', delayMs: 0 });
    expect(published?.message.headers).toMatchObject({ 'x-settle-attempt': 3 });
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(steps.slice(3)).toEqual(['ack', 'settled: sent', 'finished']);
  });

  it('republishes a message that RabbitMQ has delivered as often as it may', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({
      options: { retry: { attempts: 3, maxDeliveries: 10 } },
      countsRedeliveries: true,
    });
    brokerDelivery.acquired = 10;
    settler.settle(inFlight, pauseFor('30s'));
    await clock.endTurn();
    expect(steps).toContain('republish to retry');
  });

  it.each(['broker', 'message'] as const)(
    'requeues the message if it cannot be republished (%s)',
    async (scope) => {
      const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({
        options: { ...OPTIONS, deadLetter: 'dead' },
        countsRedeliveries: true,
      });
      brokerDelivery.countsRequeues = true;
      settler.settle(inFlight, pauseFor('30s'));
      await clock.endTurn();
      const { failed } = republishResults;
      const error = new RepublishError('refused', { scope });
      brokerDelivery.answer({ ...failed, error });
      await clock.endTurn();
      await clock.endTurn();
      expect(steps).toContain('requeueUnprocessed');
      expect(brokerDelivery.published).toHaveLength(1);
    },
  );

  it('settles once if shutdown gives up while the consumer is being cancelled', async () => {
    const { settler, inFlight, steps, clock } = aSettler();
    settler.settle(inFlight, pauseFor('30s'));
    inFlight.givenUp = true;
    inFlight.requeue?.();
    await clock.endTurn();
    expect(steps.filter((step) => step === 'requeueUnprocessed')).toHaveLength(1);
  });

  it('of a noAck subscription pauses and settles nothing', async () => {
    const { settler, inFlight, steps, logger, clock } = aSettler({ options: { noAck: true } });
    settler.settle(inFlight, pauseFor('30s'));
    await clock.endTurn();
    expect(steps).toEqual(['pause for 30000', 'cancelled', 'settled: none', 'finished']);
    expect(logger.lines[0]?.text).toContain('cannot pauseFor');
  });

  it('as a policy is a line with the error, as an outcome one at the level debug', async () => {
    const failed = aSettler({ options: OPTIONS });
    failed.settler.settle(failed.inFlight, failedWith(pauseFor('30s')));
    await failed.clock.endTurn();
    expect(failed.logger.lines).toMatchObject([
      {
        level: 'log',
        text: expect.stringMatching(
          /\[requeued\].*requeued without an attempt; the subscription pauses for 30s\. Error: the bank/,
        ),
      },
    ]);
    const asked = aSettler({ options: OPTIONS });
    asked.settler.settle(asked.inFlight, pauseFor('30s'));
    await asked.clock.endTurn();
    expect(asked.logger.lines.every(({ level }) => level === 'debug')).toBe(true);
  });
});

describe('a message that is retried while its subscription is being paused', () => {
  it('is requeued once the consumer is cancelled: else it could be delivered once more', async () => {
    const { settler, inFlight, steps, clock } = aSettler({
      options: OPTIONS,
      countsRedeliveries: true,
      isPaused: true,
    });
    settler.settle(inFlight, failedWith('retry'));
    await clock.endTurn();
    expect(steps).toEqual(['cancelled', 'requeueFailed', 'settled: sent', 'finished']);
  });
});

describe('a message that is requeued since its subscription is paused', () => {
  it('is republished with the same attempt where RabbitMQ counts the requeue', async () => {
    const { settler, inFlight, brokerDelivery, steps, settlements, clock } = aSettler({
      attempt: 2,
      countsRedeliveries: true,
    });
    brokerDelivery.countsRequeues = true;
    settler.requeue(inFlight, failedWith('drop'));
    await clock.endTurn();
    expect(steps).toEqual(['cancelled', 'republish to retry']);
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(steps.slice(2)).toEqual(['ack', 'settled: released', 'finished']);
    expect(settlements[0]?.decision).toMatchObject({ kind: 'republish', attempt: 2 });
  });

  it('is requeued at shutdown even there', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ isStopping: true });
    brokerDelivery.countsRequeues = true;
    settler.requeue(inFlight, failedWith('drop'));
    await clock.endTurn();
    expect(steps).toContain('requeueUnprocessed');
    expect(brokerDelivery.published).toEqual([]);
  });
});
