import { describe, expect, it } from 'vitest';
import { ack, HandlerTimeoutError, on, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

class BankTimeout extends Error {}
class BankSaysNo extends Error {}

describe.each(['classic', 'quorum'] as const)('an error on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function failing(error: unknown, more: Partial<AcknowledgedOptions> = {}) {
    const queue = unique('errors');
    let runs = 0;
    const Handler = handlerOf({ queue, queueType, ...more }, async (_payload, { attempt }) => {
      runs += 1;
      if (attempt === 1) throw error;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {}, { messageId: 'm1' });
    const first = async () => {
      await until(() => app.settlements.some(({ attempt }) => attempt === 1));
      return app.settlements.find(({ attempt }) => attempt === 1)!;
    };
    return { app, queue, first: await first(), runs: () => runs };
  }

  it('rejects the message by default, with one line', async () => {
    const { app, queue, first, runs } = await failing(new Error('no money'));
    expect(first.decision.kind).toBe('reject');
    expect(first.error).toHaveProperty('message', 'no money');
    expect(runs()).toBe(1);
    expect(await broker.ready(queue)).toBe(0);
    const lines = app.log.matching(/"m1"/);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^Handler\.handle \[rejected\] .*attempt 1\): rejected .*Error: no money/,
    );
    expect(lines[0]).toContain(queue);
    expect(app.log.lines.find(({ text }) => text === lines[0])?.level).toBe('error');
  });

  it("applies the policy 'skip'", async () => {
    const { first } = await failing(new Error('x'), { onError: 'skip' });
    expect(first.decision.kind).toBe('ack');
  });

  it("applies the policy 'retry'", async () => {
    const { app, runs } = await failing(new Error('x'), {
      onError: 'retry',
      retry: { attempts: 2 },
    });
    await app.settled(2);
    expect(runs()).toBe(2);
  });

  it("applies the policy 'failFast'", async () => {
    const { app, queue, first } = await failing(new Error('x'), { onError: 'failFast' });
    expect(first.decision.kind).toBe('leaveUnsettled');
    await until(() => app.failed.length === 1);
    await broker.waitForReady(queue, 1);
  });

  const caused = new Error('outer', { cause: new Error('middle', { cause: new BankTimeout() }) });
  const rules = [
    on(BankSaysNo, 'skip'),
    on([RangeError, BankTimeout], retryAfter(30)),
    on((error) => (error as Error).message === 'known', ack()),
    on(Error, 'drop'),
    on(BankTimeout, 'skip'),
    'failFast',
  ] as const;
  it.each<[what: string, error: unknown, decision: string]>([
    ['the class of the error', new BankSaysNo(), 'ack'],
    ['a class of a list', new BankTimeout(), 'republish'],
    ['a class in the chain of causes', caused, 'republish'],
    ['a predicate', new Error('known'), 'ack'],
    ['a predicate, for a cause', new Error('x', { cause: { message: 'known' } }), 'ack'],
    ['the first of several that match', new Error('other'), 'reject'],
    ['no error: the policy at the end', 'a text', 'leaveUnsettled'],
  ])('applies the rule that matches %s', async (_what, error, decision) => {
    const { first } = await failing(error, { onError: rules });
    expect(first.decision.kind).toBe(decision);
  });

  it('applies the next rule if a predicate throws, which is logged', async () => {
    const throwing = on(() => {
      throw new Error('bad predicate');
    }, 'failFast');
    const { app, first } = await failing(new Error('x'), {
      onError: [throwing, on(Error, 'skip')],
    });
    expect(first.decision.kind).toBe('ack');
    expect(app.log.matching(/predicate of an onError rule threw/, ['error'])).toHaveLength(1);
  });
});

describe('an unusual value that is thrown', async () => {
  const broker = await openBroker();
  function fail(): never {
    throw new Error('a getter threw');
  }
  class Hostile extends Error {
    override get message(): string {
      return fail();
    }
    override get name(): string {
      return fail();
    }
    override get cause(): string {
      return fail();
    }
    override toString(): string {
      return fail();
    }
  }
  const traps = { get: fail, getPrototypeOf: fail, has: fail, ownKeys: fail };

  function circular(): Error {
    const error = new Error('circular');
    error.cause = error;
    return error;
  }

  it.each<[what: string, value: () => unknown]>([
    ['undefined', () => undefined],
    ['null', () => null],
    ['a text', () => 'text'],
    ['a number', () => 42],
    ['a symbol', () => Symbol('s')],
    ['a function', () => fail],
    ['a frozen object', () => Object.freeze({ code: 1 })],
    ['an object without prototype', () => Object.create(null)],
    ['an error whose getters throw', () => new Hostile()],
    ['a proxy whose traps throw', () => new Proxy({}, traps)],
    ['an error that causes itself', circular],
  ])('goes through onError once: %s', async (_what, value) => {
    const queue = unique('thrown');
    const Handler = handlerOf(
      { queue, deadLetter: `${queue}.dead`, onError: [on(BankSaysNo, 'skip'), 'drop'] },
      (what) => {
        if (what === 'control') return undefined;
        throw value();
      },
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, 'go');
    await broker.send(queue, 'control');
    await app.settled(2);
    const { headers } = (await broker.take(`${queue}.dead`)).properties;
    expect(headers?.['x-settle-reason']).toBe('error');
    expect(app.failed).toEqual([]);
    expect(app.log.matching(/\[dead-lettered\]/)).toHaveLength(1);
  });
});

describe('the timeout', async () => {
  const broker = await openBroker();

  it('aborts the signal and applies onError; a later result of the handler is ignored', async () => {
    const queue = unique('timeout');
    const end = new Gate();
    const reasons: unknown[] = [];
    let ended = false;
    const Handler = handlerOf(
      {
        queue,
        timeout: '150ms',
        deadLetter: `${queue}.dead`,
        onError: [on(HandlerTimeoutError, 'drop'), 'failFast'],
      },
      async (payload, { signal }) => {
        if (payload === 'control') return;
        signal.addEventListener('abort', () => reasons.push(signal.reason));
        await end.promise;
        ended = true;
        throw new TypeError('late');
      },
    );
    const app = await startApp({ providers: [Handler] });
    const began = performance.now();
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(performance.now() - began).toBeGreaterThanOrEqual(149);
    expect(settlement?.error).toBeInstanceOf(HandlerTimeoutError);
    expect(settlement?.error).toHaveProperty('timeout', 150);
    expect(reasons).toEqual([settlement?.error]);
    const { headers } = (await broker.take(`${queue}.dead`)).properties;
    expect(headers?.['x-settle-reason']).toBe('timeout');
    expect(headers?.['x-settle-error-name']).toBe('HandlerTimeoutError');
    end.open();
    await until(() => ended);
    await broker.send(queue, 'control');
    await app.settled(2);
    expect(app.settlements).toHaveLength(2);
    expect(app.failed).toEqual([]);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });

  it('includes decoding, and the handler does not start after it', async () => {
    const queue = unique('slow-decoder');
    const decoded = new Gate();
    let runs = 0;
    const Handler = handlerOf({ queue, timeout: 100, deserializer: () => decoded.promise }, () => {
      runs += 1;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.error).toBeInstanceOf(HandlerTimeoutError);
    decoded.open();
    await broker.send(queue, {});
    await app.settled(2);
    expect(runs).toBe(1);
  });

  it('does not affect a handler that finishes in time', async () => {
    const queue = unique('in-time');
    let aborted = false;
    const Handler = handlerOf({ queue, timeout: 100 }, async (_payload, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true;
      });
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(aborted).toBe(false);
  });
});
