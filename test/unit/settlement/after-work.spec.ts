import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, type Outcome, retry } from '../../../lib/model/outcome';
import type { Settlement } from '../../../lib/model/settlement';
import { aSettler, failedWith, republishResults } from './settler-fixtures';

const republishing: SubscribeOptions = { retry: { attempts: 3 }, deadLetter: 'billing.dead' };

describe('andAfter', () => {
  it('runs callbacks in order after the acknowledgement, then the delivery is finished', async () => {
    const { settler, inFlight, steps, clock } = aSettler();
    const slow = async (): Promise<void> => {
      steps.push('first begins');
      await Promise.resolve();
      steps.push('first ends');
    };
    settler.settle(
      inFlight,
      ack()
        .andAfter(slow)
        .andAfter(() => steps.push('second')),
    );
    await clock.endTurn();
    expect(steps).toEqual([
      'ack',
      'settled: sent',
      'first begins',
      'first ends',
      'second',
      'finished',
    ]);
  });

  it('passes the settlement, also without a listener', async () => {
    const { settler, inFlight, clock, delivery } = aSettler({ isObserved: false });
    const received: Settlement[] = [];
    settler.settle(
      inFlight,
      drop('why').andAfter((settlement) => received.push(settlement)),
    );
    await clock.endTurn();
    expect(received).toMatchObject([{ delivery, status: 'sent', decision: { kind: 'reject' } }]);
  });

  it('logs a callback that fails and runs the next one', async () => {
    const { settler, inFlight, steps, clock, logger } = aSettler();
    const failing = drop()
      .andAfter(() => {
        throw new Error('synchronous');
      })
      .andAfter(() => Promise.reject(new Error('asynchronous')))
      .andAfter(() => steps.push('third'));
    settler.settle(inFlight, failing);
    await clock.endTurn();
    expect(steps).toEqual(['reject', 'settled: sent', 'third', 'finished']);
    const errors = logger.lines.filter(({ level }) => level === 'error');
    expect(errors).toMatchObject([
      { text: expect.stringMatching(/^Billing\.charge \[after-settlement-failed\] message "m-1"/) },
      { text: expect.stringContaining('[after-settlement-failed]') },
    ]);
    expect(errors.map(({ rest }) => rest[0])).toEqual([
      expect.stringContaining('Error: synchronous'),
      expect.stringContaining('Error: asynchronous'),
    ]);
  });

  it.each<[string, SubscribeOptions, (work: () => void) => Outcome]>([
    ['a drop', {}, (work) => drop().andAfter(work)],
    ['a requeue', {}, (work) => retry().andAfter(work)],
    ['an outcome given as a policy', {}, (work) => failedWith(drop().andAfter(work))],
    ['noAck, which sends nothing', { noAck: true }, (work) => ack().andAfter(work)],
  ])('runs after %s', async (_name, options, make) => {
    const { settler, inFlight, steps, clock } = aSettler({ options });
    settler.settle(
      inFlight,
      make(() => steps.push('work')),
    );
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['work', 'finished']);
  });

  it('runs after the original of a republished message is acknowledged', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(
      inFlight,
      retry().andAfter(() => steps.push('work')),
    );
    brokerDelivery.answer(republishResults.confirmed);
    await clock.endTurn();
    expect(steps).toEqual(['republish to retry', 'ack', 'settled: sent', 'work', 'finished']);
  });

  it('does not run if the acknowledgement could not be sent', async () => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler();
    brokerDelivery.isOpen = false;
    settler.settle(
      inFlight,
      ack().andAfter(() => steps.push('work')),
    );
    await clock.endTurn();
    expect(steps).not.toContain('work');
    expect(steps.at(-1)).toBe('finished');
  });

  it.each(['failed', 'lost'] as const)('does not run after a %s republish', async (status) => {
    const { settler, inFlight, brokerDelivery, steps, clock } = aSettler({ options: republishing });
    settler.settle(
      inFlight,
      retry().andAfter(() => steps.push('work')),
    );
    brokerDelivery.answer(republishResults[status]);
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).not.toContain('work');
    expect(steps.at(-1)).toBe('finished');
  });

  it('does not run for a delivery that is requeued during shutdown', async () => {
    const { settler, inFlight, steps, clock } = aSettler({ isStopping: true });
    settler.settle(inFlight, failedWith(drop().andAfter(() => steps.push('work'))));
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.at(-1)).toBe('finished');
    expect(steps).not.toContain('work');
  });
});
