import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, type Outcome, retry } from '../../../lib/model/outcome';
import type { Settlement } from '../../../lib/model/settlement';
import { aSettler, spoken } from './settler-fixtures';

const counted: SubscribeOptions = { retry: { attempts: 3 }, deadLetter: 'billing.dead' };

describe('work for after the settlement', () => {
  it('runs once the frame is written, in order, each after the last; then the delivery is over', async () => {
    const { settler, run, steps, clock } = aSettler();
    const later = async (): Promise<void> => {
      steps.push('first begins');
      await Promise.resolve();
      steps.push('first ends');
    };
    settler.settle(
      run,
      ack()
        .andAfter(later)
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

  it('is told what was settled, also where nobody else listens', async () => {
    const { settler, run, clock, delivery } = aSettler({ isObserved: false });
    const told: Settlement[] = [];
    settler.settle(
      run,
      drop('why').andAfter((settlement) => told.push(settlement)),
    );
    await clock.endTurn();
    expect(told).toMatchObject([{ delivery, status: 'sent', decision: { kind: 'reject' } }]);
  });

  it('that fails is logged, and the rest runs', async () => {
    const { settler, run, steps, clock, logger } = aSettler();
    const failing = drop()
      .andAfter(() => {
        throw new Error('at once');
      })
      .andAfter(() => Promise.reject(new Error('later')))
      .andAfter(() => steps.push('third'));
    settler.settle(run, failing);
    await clock.endTurn();
    expect(steps).toEqual(['reject', 'settled: sent', 'third', 'finished']);
    expect(
      logger.lines.filter(({ level }) => level === 'error').map(({ rest }) => rest[0]),
    ).toEqual([expect.stringContaining('at once'), expect.stringContaining('later')]);
  });

  it.each<[string, SubscribeOptions, (work: () => void) => Outcome]>([
    ['a drop', {}, (work) => drop().andAfter(work)],
    ['a requeue', {}, (work) => retry().andAfter(work)],
    ['an outcome that is a policy', {}, (work) => spoken(drop().andAfter(work))],
    ['noAck, where nothing is sent', { noAck: true }, (work) => ack().andAfter(work)],
  ])('runs whatever the decision was: %s', async (_name, options, make) => {
    const { settler, run, steps, clock } = aSettler({ options });
    settler.settle(
      run,
      make(() => steps.push('work')),
    );
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['work', 'finished']);
  });

  it('of a copy runs after the original is acknowledged', async () => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(
      run,
      retry().andAfter(() => steps.push('work')),
    );
    source.answerCopy('confirmed');
    await clock.endTurn();
    expect(steps).toEqual(['copy to retryAddress', 'ack', 'settled: sent', 'work', 'finished']);
  });

  it('does not run where the settlement could not be sent', async () => {
    const { settler, run, source, steps, clock } = aSettler();
    source.isOpen = false;
    settler.settle(
      run,
      ack().andAfter(() => steps.push('work')),
    );
    await clock.endTurn();
    expect(steps).not.toContain('work');
    expect(steps.at(-1)).toBe('finished');
  });

  it.each(['failed', 'lost'] as const)('does not run where the copy %s', async (result) => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(
      run,
      retry().andAfter(() => steps.push('work')),
    );
    source.answerCopy(result);
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).not.toContain('work');
    expect(steps.at(-1)).toBe('finished');
  });

  it('does not run for a delivery that is released', async () => {
    const stopping = aSettler({ isStopping: true });
    const outcome = spoken(drop().andAfter(() => stopping.steps.push('work')));
    stopping.settler.settle(stopping.run, outcome);
    await stopping.clock.endTurn();
    await stopping.clock.endTurn();
    expect(stopping.steps.at(-1)).toBe('finished');
    expect(stopping.steps).not.toContain('work');
  });
});
