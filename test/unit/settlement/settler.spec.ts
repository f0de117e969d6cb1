import { describe, expect, it } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, drop, type Outcome, retry, retryAfter } from '../../../lib/model/outcome';
import { aSettler, spoken } from './settler-fixtures';

const counted: SubscribeOptions = { retry: { attempts: 3 }, deadLetter: 'billing.dead' };

describe('a decision that is one frame', () => {
  it.each<[string, Outcome, string]>([
    ['ack()', ack(), 'ack'],
    ['drop()', drop(), 'reject'],
    ['retry()', retry(), 'requeue'],
    ['the policy skip', spoken('skip'), 'ack'],
    ['the policy drop', spoken('drop'), 'reject'],
  ])('of %s is written, told of, and then over', (_name, outcome, frame) => {
    const { settler, run, steps, settlements, delivery, subscription } = aSettler();
    settler.settle(run, outcome);
    expect(steps).toEqual([frame, 'settled: sent', 'finished']);
    expect(settlements).toMatchObject([{ subscription, delivery, outcome, attempt: 1 }]);
  });

  it('is abandoned where the channel is gone', () => {
    const { settler, run, source, steps, logger } = aSettler();
    source.isOpen = false;
    settler.settle(run, ack());
    expect(steps).toEqual(['ack', 'settled: abandoned', 'finished']);
    expect(logger.texts('warn')).toEqual([expect.stringMatching(/"m-1".*channel is gone/)]);
  });

  it('is carried out once: what comes later settles nothing', async () => {
    const { settler, run, steps, clock } = aSettler();
    settler.settle(run, ack());
    settler.settle(run, drop());
    settler.release(run, retry());
    await clock.endTurn();
    expect(steps).toEqual(['ack', 'settled: sent', 'finished']);
  });

  it('tells how long the delivery took, and what made a policy speak', () => {
    const { settler, run, settlements, clock } = aSettler();
    const error = new Error('why');
    clock.advance(120);
    clock.setWall(0);
    settler.settle(run, spoken('drop', 'timeout', error));
    expect(settlements).toMatchObject([{ durationMs: 120, error, decision: { kind: 'reject' } }]);
    expect(Object.isFrozen(settlements[0])).toBe(true);
  });

  it('has no error where the handler spoke itself', () => {
    const { settler, run, settlements } = aSettler();
    settler.settle(run, drop('why'));
    expect(settlements[0]).not.toHaveProperty('error');
    expect(settlements[0]).not.toHaveProperty('copy');
  });

  it('is told to nobody where nobody listens, but that it was abandoned', () => {
    const silent = aSettler({ isObserved: false });
    silent.settler.settle(silent.run, ack());
    expect(silent.steps).toEqual(['ack', 'finished']);
    const lost = aSettler({ isObserved: false });
    lost.source.isOpen = false;
    lost.settler.settle(lost.run, ack());
    expect(lost.steps).toEqual(['ack', 'settled: abandoned', 'finished']);
  });
});

describe('a copy', () => {
  it('is sent and confirmed before the original is acknowledged', async () => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(run, retry());
    await clock.endTurn();
    expect(steps).toEqual(['copy to retryAddress']);
    source.answerCopy('confirmed');
    await clock.endTurn();
    expect(steps).toEqual(['copy to retryAddress', 'ack', 'settled: sent', 'finished']);
  });

  it('for the next attempt carries it, and waits for the delay', () => {
    const { settler, run, source } = aSettler({ options: counted, attempt: 2 });
    settler.settle(run, retryAfter('7s'));
    expect(source.copies).toMatchObject([
      {
        target: { to: 'retry', delayMs: 7_000 },
        copy: { headers: { 'x-settle-attempt': 3 } },
      },
    ]);
  });

  it('for the dead-letter queue tells why, with the stack where it is asked for', () => {
    const error = new RangeError('why');
    for (const stack of [true, false]) {
      const deadLetter = { queue: 'billing.dead', stack };
      const { settler, run, source } = aSettler({ options: { deadLetter } });
      settler.settle(run, spoken(drop('no such account'), 'error', error));
      const [sent] = source.copies;
      expect(run.republished).toMatchObject({ queue: 'billing.dead', delayMs: 0 });
      expect(sent?.target).toEqual({ to: 'deadLetter' });
      expect(sent?.copy.headers).toMatchObject({
        'x-settle-reason': 'error',
        'x-settle-error-name': 'RangeError',
        'x-settle-error-message': 'no such account',
      });
      expect('x-settle-error-stack' in (sent?.copy.headers ?? {})).toBe(stack);
    }
  });

  it('at the cap has the cap for a reason and still the last error', () => {
    const { settler, run, source } = aSettler({ options: counted, attempt: 3 });
    settler.settle(run, spoken('retry', 'timeout', new Error('too long')));
    expect(source.copies[0]?.copy.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-error-message': 'too long',
      'x-settle-attempts-made': 3,
    });
  });

  it('that failed gives the original back once the intake has stopped, and never rejects it', async () => {
    const { settler, run, source, steps, clock, logger } = aSettler({ options: counted });
    settler.settle(run, spoken('drop'));
    source.answerCopy('failed');
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toEqual([
      'copy to deadLetter',
      'back off',
      'intake stopped',
      'requeueUnprocessed',
      'settled: republishFailed',
      'finished',
    ]);
    expect(logger.texts('error')).toContainEqual(
      expect.stringMatching(/"billing\.dead" was not confirmed/),
    );
  });

  it('that failed is abandoned where the channel is gone by then', async () => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(run, retry());
    source.isOpen = false;
    source.answerCopy('failed');
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['settled: abandoned', 'finished']);
  });

  it('whose original is lost settles nothing', async () => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(run, retry());
    source.answerCopy('lost');
    await clock.endTurn();
    expect(steps).toEqual(['copy to retryAddress', 'settled: abandoned', 'finished']);
  });

  it.each(['confirmed', 'failed', 'lost'] as const)(
    'that is %s after the drain has given up sends nothing more',
    async (result) => {
      const { settler, run, source, steps, clock } = aSettler({ options: counted });
      settler.settle(run, retry());
      run.givenUp = true;
      run.giveBack?.();
      const before = [...steps];
      expect(before).toEqual([
        'copy to retryAddress',
        'requeueUnprocessed',
        'settled: released',
        'finished',
      ]);
      source.answerCopy(result);
      await clock.endTurn();
      await clock.endTurn();
      expect(steps).toEqual(before);
    },
  );

  it('that failed is given back once where the drain gives up while the intake stops', async () => {
    const { settler, run, source, steps, clock } = aSettler({ options: counted });
    settler.settle(run, retry());
    source.answerCopy('failed');
    await Promise.resolve();
    await Promise.resolve();
    expect(steps).toContain('back off');
    run.givenUp = true;
    run.giveBack?.();
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.filter((step) => step === 'requeueUnprocessed')).toHaveLength(1);
    expect(steps.filter((step) => step === 'finished')).toHaveLength(1);
  });

  it('is told of with the settlement: where it went, and what it was', async () => {
    const { settler, run, source, settlements, clock } = aSettler({ options: counted });
    settler.settle(run, retryAfter('1s'));
    source.answerCopy('confirmed');
    await clock.endTurn();
    expect(settlements[0]?.republished).toMatchObject({
      queue: 'billing.wait.1024',
      delayMs: 1_000,
      headers: { 'x-settle-attempt': 2 },
    });
  });

  it('goes back to its own queue where it does not wait', () => {
    const { settler, run } = aSettler({ options: counted });
    settler.settle(run, retry());
    expect(run.republished).toMatchObject({ queue: 'billing', delayMs: 0 });
  });
});

describe('a delay that can not be waited for', () => {
  it('is logged as an error, and the backoff takes its place', () => {
    const { settler, run, source, logger } = aSettler({ options: counted });
    settler.settle(run, retryAfter(-1));
    expect(source.copies[0]?.target).toEqual({ to: 'retry', delayMs: 1_000 });
    expect(logger.texts('error')).toEqual([expect.stringMatching(/^Billing\.charge: .*found -1/)]);
  });
});

describe('retryAfter() on a queue that the server names', () => {
  it('comes again at once, with a warning', () => {
    const { settler, run, steps, logger } = aSettler({ options: { queue: undefined as never } });
    settler.settle(run, retryAfter('5s'));
    expect(steps).toEqual(['requeue', 'settled: sent', 'finished']);
    expect(logger.texts('warn')).toContainEqual(
      expect.stringMatching(/queue that the server names/),
    );
  });
});

describe('fail fast', () => {
  it('leaves the delivery unsettled and stops the service', () => {
    const { settler, run, steps, logger } = aSettler({ options: counted });
    settler.settle(run, spoken('failFast', 'panic', new TypeError('bug')));
    expect(steps).toEqual(['leave', 'fail fast: TypeError: bug', 'settled: none', 'finished']);
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        text: expect.stringMatching(/"m-1".*bug/),
        rest: [expect.stringContaining('bug'), 'Settle'],
      },
    ]);
  });

  it('says of a noAck subscription that the message is gone', () => {
    const { settler, run, steps, logger } = aSettler({ options: { noAck: true } });
    settler.settle(run, spoken('failFast', 'panic', new TypeError('bug')));
    expect(steps).toContain('fail fast: TypeError: bug');
    expect(logger.texts('error')).toEqual([expect.stringMatching(/gone/)]);
  });
});

describe('while the service stops', () => {
  it.each(['error', 'timeout', 'panic'] as const)(
    'a failure (%s) is given back, once the intake has stopped',
    async (cause) => {
      const { settler, run, steps, clock } = aSettler({ options: counted, isStopping: true });
      settler.settle(run, spoken('failFast', cause));
      expect(steps).toEqual([]);
      await clock.endTurn();
      await clock.endTurn();
      expect(steps).toEqual([
        'intake stopped',
        'requeueUnprocessed',
        'settled: released',
        'finished',
      ]);
    },
  );

  it.each<[string, Outcome, string]>([
    ['an outcome', drop(), 'reject'],
    ['what does not decode', spoken('drop', 'invalid-payload'), 'reject'],
    ['ack()', ack(), 'ack'],
  ])('%s is settled as usual', (_name, outcome, frame) => {
    const { settler, run, steps } = aSettler({ isStopping: true });
    settler.settle(run, outcome);
    expect(steps[0]).toBe(frame);
  });

  it('a failure of a noAck subscription is lost, and this is said', async () => {
    const { settler, run, steps, settlements, logger, clock } = aSettler({
      options: { noAck: true },
      isStopping: true,
    });
    settler.settle(run, spoken('drop'));
    await clock.endTurn();
    expect(steps).toEqual(['settled: none', 'finished']);
    expect(logger.texts('warn')).toEqual([expect.stringContaining('"m-1"')]);
    expect(settlements[0]?.decision).toEqual({ kind: 'none' });
  });

  it('a delivery whose channel is gone by then is abandoned', async () => {
    const { settler, run, source, steps, clock } = aSettler({ isStopping: true });
    source.isOpen = false;
    settler.settle(run, spoken('drop'));
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.slice(-2)).toEqual(['settled: abandoned', 'finished']);
  });

  it('a delivery that is given back is decided upon: what comes later settles nothing', async () => {
    const { settler, run, steps, logger, clock } = aSettler({ isStopping: true });
    settler.settle(run, spoken('drop'));
    settler.settle(run, ack());
    await clock.endTurn();
    await clock.endTurn();
    expect(steps).toEqual([
      'intake stopped',
      'requeueUnprocessed',
      'settled: released',
      'finished',
    ]);
    expect(logger.texts('log')).toEqual([expect.stringMatching(/"m-1".*stopping/)]);
  });

  it('a delivery is given back once where the drain gives up before the intake has stopped', async () => {
    const { settler, run, steps, clock } = aSettler({ isStopping: true });
    settler.settle(run, spoken('drop'));
    run.givenUp = true;
    run.giveBack?.();
    await clock.endTurn();
    await clock.endTurn();
    expect(steps.filter((step) => step === 'requeueUnprocessed')).toHaveLength(1);
    expect(steps.filter((step) => step === 'finished')).toHaveLength(1);
  });
});

describe('a noAck subscription', () => {
  it.each([ack(), drop(), retry(), retryAfter('1s'), spoken('drop')])(
    'sends nothing for %o',
    (outcome) => {
      const { settler, run, steps } = aSettler({ options: { noAck: true } });
      settler.settle(run, outcome);
      expect(steps).toEqual(['settled: none', 'finished']);
    },
  );
});
