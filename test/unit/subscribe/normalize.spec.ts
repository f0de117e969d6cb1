import { describe, expect, it } from 'vitest';
import { DEFAULT_BACKOFF, fixed } from '../../../lib/model/backoff';
import type { SubscribeDefaults, SubscribeOptions } from '../../../lib/model/options';
import { drop } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';
import { aSubscription, HANDLER, QUEUE } from '../fixtures';

const ALL = { queue: true, bindings: true, waiting: true, deadLetter: true };

describe('normalize', () => {
  it('fills in what the documentation says about options that are left out', () => {
    const options = { queue: QUEUE };
    expect(normalize(HANDLER, options)).toEqual({
      handler: HANDLER,
      name: QUEUE,
      connection: undefined,
      queue: QUEUE,
      queueType: 'classic',
      queueOptions: {},
      bindings: [],
      prefetch: undefined,
      retry: undefined,
      backoff: DEFAULT_BACKOFF,
      deadLetter: undefined,
      timeout: undefined,
      onError: { rules: [], otherwise: 'drop' },
      onPanic: 'failFast',
      onInvalidPayload: 'drop',
      noAck: false,
      declare: ALL,
      deserializer: undefined,
      allowNonJsonMessages: false,
      options,
    });
  });

  it('freezes what it makes, and leaves what it was given as it was', () => {
    const queueOptions = { durable: true };
    const options = { queue: QUEUE, queueOptions, retry: { attempts: 3 }, deadLetter: 'dead' };
    const made = normalize(HANDLER, options);
    const parts = [
      made,
      made.queueOptions,
      made.bindings,
      made.retry,
      made.deadLetter,
      made.deadLetter?.queueOptions,
      made.onError,
      made.onError.rules,
      made.declare,
    ];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
    expect(Object.isFrozen(options) || Object.isFrozen(queueOptions)).toBe(false);
  });

  const all: SubscribeDefaults & SubscribeOptions = {
    queueType: 'quorum',
    prefetch: 50,
    retry: { attempts: 7, by: 'client', backoff: fixed('3s') },
    timeout: '2m',
    onError: 'retryAfter',
    onPanic: 'failFastOnce',
    onInvalidPayload: 'skip',
    declare: false,
    deserializer: () => 'theirs',
    allowNonJsonMessages: true,
    deadLetter: undefined as never,
  };
  const expected = {
    queueType: 'quorum',
    prefetch: 50,
    retry: { attempts: 7, by: 'client' },
    backoff: all.retry?.backoff,
    timeout: 120_000,
    onError: { rules: [], otherwise: 'retryAfter' },
    onPanic: 'failFastOnce',
    onInvalidPayload: 'skip',
    declare: { queue: false, bindings: false, waiting: false, deadLetter: false },
    deserializer: all.deserializer,
    allowNonJsonMessages: true,
  };

  it('reads each option', () => {
    expect(aSubscription(all)).toMatchObject(expected);
  });

  it('takes each from the defaults where the subscription leaves it out', () => {
    expect(aSubscription({}, all)).toMatchObject(expected);
  });

  it('takes each from the subscription where both have it, false and 0 included', () => {
    const other: SubscribeDefaults = {
      queueType: 'classic',
      prefetch: 1,
      retry: { attempts: 1, backoff: fixed(1) },
      timeout: 1,
      onError: 'drop',
      onPanic: 'drop',
      onInvalidPayload: 'drop',
      declare: true,
      deserializer: () => 'ours',
      allowNonJsonMessages: false,
    };
    expect(aSubscription(all, other)).toMatchObject(expected);
    expect(aSubscription({ allowNonJsonMessages: false }, all).allowNonJsonMessages).toBe(false);
    expect(faultsOf(aSubscription({ prefetch: 0 }, all))).toHaveLength(1);
  });

  it('takes a retry declaration whole: its backoff does not come from elsewhere', () => {
    const { retry, backoff } = aSubscription({ retry: { attempts: 2 } }, all);
    expect(retry).toEqual({ attempts: 2, by: 'client', maxDeliveries: 1_000 });
    expect(backoff).toBe(DEFAULT_BACKOFF);
  });

  it('is named by the option name, else by the queue, else not at all', () => {
    expect(aSubscription({ name: 'n' }).name).toBe('n');
    expect(aSubscription().name).toBe(QUEUE);
    expect(normalize(HANDLER, { exchange: 'x' }).name).toBe('');
  });
});

describe('the queue type', () => {
  const argument = (type: unknown) => ({ arguments: { 'x-queue-type': type } });

  it.each<[string, SubscribeOptions, SubscribeDefaults, string]>([
    ['is classic by default', { queue: 'q' }, {}, 'classic'],
    [
      'is what the queue’s own argument says',
      { queue: 'q', queueOptions: argument('quorum') },
      {},
      'quorum',
    ],
    [
      'is that of the argument before that of the defaults',
      { queue: 'q', queueOptions: argument('classic') },
      { queueType: 'quorum' },
      'classic',
    ],
    [
      'is that of the defaults for a queue with a name',
      { queue: 'q' },
      { queueType: 'quorum' },
      'quorum',
    ],
    [
      'is that of the defaults for an entry of handlers',
      { name: 'n' },
      { queueType: 'quorum' },
      'quorum',
    ],
    [
      'is classic for a queue that the server names',
      { exchange: 'x' },
      { queueType: 'quorum' },
      'classic',
    ],
    [
      'is that of the option before all',
      { queue: 'q', queueType: 'classic' },
      { queueType: 'quorum' },
      'classic',
    ],
  ])('%s', (_name, options, defaults, type) => {
    expect(normalize(HANDLER, options, defaults).queueType).toBe(type);
  });
});

describe('declare', () => {
  it.each<[string, SubscribeOptions, object]>([
    ['true', { declare: true }, {}],
    [
      'false',
      { declare: false },
      { queue: false, bindings: false, waiting: false, deadLetter: false },
    ],
    ['the queue alone is not', { declare: { queue: false } }, { queue: false, bindings: true }],
    ['waiting queues alone are not', { declare: { waiting: false } }, { waiting: false }],
    [
      'the dead-letter queue alone is not',
      { declare: { deadLetter: false } },
      { deadLetter: false },
    ],
    [
      'golevelup’s way to leave the queue alone binds it all the same',
      { createQueueIfNotExists: false },
      { queue: false },
    ],
    [
      'what is said here goes before golevelup’s option',
      { createQueueIfNotExists: false, declare: { queue: true } },
      {},
    ],
    ['nothing named is everything', { declare: {} }, {}],
  ])('%s', (_name, options, expected) => {
    expect(aSubscription(options).declare).toEqual({ ...ALL, ...expected });
  });
});

describe('deadLetter', () => {
  it('is the name of a queue, or more about it', () => {
    const bare = { queue: 'dead', by: 'client', stack: false, queueOptions: {} };
    expect(aSubscription({ deadLetter: 'dead' }).deadLetter).toEqual(bare);
    expect(aSubscription({ deadLetter: { queue: 'dead' } }).deadLetter).toEqual(bare);
    const queueOptions = { arguments: { 'x-max-length': 5 } };
    const full = { queue: 'dead', by: 'broker', stack: true, queueOptions } as const;
    expect(aSubscription({ deadLetter: full }).deadLetter).toEqual(full);
  });

  it('of the defaults is asked with the queue’s name', () => {
    const defaults = { deadLetter: (queue: string) => `${queue}.dead` };
    expect(aSubscription({}, defaults).deadLetter?.queue).toBe('billing.dead');
    expect(aSubscription({ deadLetter: 'own' }, defaults).deadLetter?.queue).toBe('own');
  });

  it('of the defaults is not asked where nothing can be moved, or there is no name', () => {
    const deadLetter = (): never => {
      throw new Error('asked');
    };
    for (const options of [{ queue: 'q', noAck: true }, { exchange: 'x' }]) {
      const made = normalize(HANDLER, options, { deadLetter });
      expect(made.deadLetter).toBeUndefined();
      expect(faultsOf(made)).toEqual([]);
    }
  });

  it.each([undefined, null])('of the defaults is none where the function answers %s', (answer) => {
    const made = aSubscription({}, { deadLetter: () => answer as undefined });
    expect(made.deadLetter).toBeUndefined();
    expect(faultsOf(made)).toEqual([]);
  });
});

describe('noAck', () => {
  it('comes from the option, or from golevelup’s consumerOptions', () => {
    const queueOptions = { consumerOptions: { noAck: true } };
    expect(aSubscription({ noAck: true }).noAck).toBe(true);
    expect(aSubscription({ queueOptions }).noAck).toBe(true);
    expect(aSubscription({ queueOptions, noAck: false }).noAck).toBe(false);
  });

  it('leaves the retry of the defaults out', () => {
    expect(aSubscription({ noAck: true }, { retry: { attempts: 3 } }).retry).toBeUndefined();
  });
});

describe('onError', () => {
  class BankTimeout extends Error {}
  const rule = on(BankTimeout, 'retryAfter');
  const end = drop('no money');

  it.each<[string, SubscribeOptions['onError'], object]>([
    ['a policy', 'retry', { rules: [], otherwise: 'retry' }],
    ['an outcome', end, { rules: [], otherwise: end }],
    ['a rule alone ends in a drop', [rule], { rules: [rule], otherwise: 'drop' }],
    [
      'rules and a policy at the end',
      [rule, rule, 'skip'],
      { rules: [rule, rule], otherwise: 'skip' },
    ],
  ])('%s', (_name, onError, expected) => {
    expect(aSubscription({ ...(onError && { onError }) }).onError).toEqual(expected);
  });
});
