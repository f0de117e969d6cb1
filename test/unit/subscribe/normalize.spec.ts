import { describe, expect, it } from 'vitest';
import { DEFAULT_BACKOFF, fixed } from '../../../lib/model/backoff';
import type { SubscribeDefaults, SubscribeOptions } from '../../../lib/model/options';
import { drop } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';
import { aSubscription, HANDLER, QUEUE } from '../fixtures';

const ALL = { queue: true, bindings: true, waiting: true, deadLetter: true };

describe('normalize', () => {
  it('applies the documented defaults', () => {
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
      concurrency: undefined,
      rate: undefined,
      batch: undefined,
      order: undefined,
      singleActiveConsumer: false,
      stuckAfter: 300_000,
      consumerPriority: undefined,
      consumerTimeout: undefined,
      retry: undefined,
      backoff: DEFAULT_BACKOFF,
      deadLetter: undefined,
      timeout: undefined,
      onError: { rules: [], otherwise: 'drop' },
      onPanic: 'failFast',
      onInvalidPayload: 'drop',
      requestScope: false,
      noAck: false,
      declare: ALL,
      deserializer: undefined,
      allowNonJsonMessages: false,
      options,
    });
  });

  it('freezes its result and does not change the given options', () => {
    const queueOptions = { durable: true };
    const options = { queue: QUEUE, queueOptions, retry: { attempts: 3 }, deadLetter: 'dead' };
    const normalized = normalize(HANDLER, options);
    const parts = [
      normalized,
      normalized.queueOptions,
      normalized.bindings,
      normalized.retry,
      normalized.deadLetter,
      normalized.deadLetter?.queueOptions,
      normalized.onError,
      normalized.onError.rules,
      normalized.declare,
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

  it('uses the defaults of the module for missing options', () => {
    expect(aSubscription({}, all)).toMatchObject(expected);
  });

  it('prefers the subscription to the defaults, also false and 0', () => {
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

  it('does not merge the backoff of the defaults into retry', () => {
    const { retry, backoff } = aSubscription({ retry: { attempts: 2 } }, all);
    expect(retry).toEqual({ attempts: 2, by: 'client', maxDeliveries: 1_000 });
    expect(backoff).toBe(DEFAULT_BACKOFF);
  });

  it('names a subscription by name, else by its queue', () => {
    expect(aSubscription({ name: 'n' }).name).toBe('n');
    expect(aSubscription().name).toBe(QUEUE);
    expect(normalize(HANDLER, { exchange: 'x' }).name).toBe('');
  });
});

describe('queueType', () => {
  const argument = (type: unknown) => ({ arguments: { 'x-queue-type': type } });

  it.each<[string, SubscribeOptions, SubscribeDefaults, string]>([
    ['is classic by default', { queue: 'q' }, {}, 'classic'],
    [
      'comes from the argument x-queue-type',
      { queue: 'q', queueOptions: argument('quorum') },
      {},
      'quorum',
    ],
    [
      'prefers the argument to the defaults',
      { queue: 'q', queueOptions: argument('classic') },
      { queueType: 'quorum' },
      'classic',
    ],
    [
      'comes from the defaults for a named queue',
      { queue: 'q' },
      { queueType: 'quorum' },
      'quorum',
    ],
    [
      'comes from the defaults for an entry of handlers',
      { name: 'n' },
      { queueType: 'quorum' },
      'quorum',
    ],
    ['is classic for a server-named queue', { exchange: 'x' }, { queueType: 'quorum' }, 'classic'],
    [
      'prefers the option',
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
    ['not the queue', { declare: { queue: false } }, { queue: false, bindings: true }],
    ['not the waiting queues', { declare: { waiting: false } }, { waiting: false }],
    ['not the dead-letter queue', { declare: { deadLetter: false } }, { deadLetter: false }],
    [
      'createQueueIfNotExists: false still binds',
      { createQueueIfNotExists: false },
      { queue: false },
    ],
    [
      'declare takes precedence over createQueueIfNotExists',
      { createQueueIfNotExists: false, declare: { queue: true } },
      {},
    ],
    ['an empty object declares everything', { declare: {} }, {}],
  ])('%s', (_name, options, expected) => {
    expect(aSubscription(options).declare).toEqual({ ...ALL, ...expected });
  });
});

describe('deadLetter', () => {
  it('accepts a name or an object', () => {
    const bare = { queue: 'dead', by: 'client', stack: false, queueOptions: {} };
    expect(aSubscription({ deadLetter: 'dead' }).deadLetter).toEqual(bare);
    expect(aSubscription({ deadLetter: { queue: 'dead' } }).deadLetter).toEqual(bare);
    const queueOptions = { arguments: { 'x-max-length': 5 } };
    const full = { queue: 'dead', by: 'broker', stack: true, queueOptions } as const;
    expect(aSubscription({ deadLetter: full }).deadLetter).toEqual(full);
  });

  it('calls the function of the defaults with the queue', () => {
    const defaults = { deadLetter: (queue: string) => `${queue}.dead` };
    expect(aSubscription({}, defaults).deadLetter?.queue).toBe('billing.dead');
    expect(aSubscription({ deadLetter: 'own' }, defaults).deadLetter?.queue).toBe('own');
  });

  it('does not call it for noAck or for a server-named queue', () => {
    const deadLetter = (): never => {
      throw new Error('called');
    };
    for (const options of [{ queue: 'q', noAck: true }, { exchange: 'x' }]) {
      const normalized = normalize(HANDLER, options, { deadLetter });
      expect(normalized.deadLetter).toBeUndefined();
      expect(faultsOf(normalized)).toEqual([]);
    }
  });

  it.each([undefined, null])('is undefined if the function returns %s', (value) => {
    const normalized = aSubscription({}, { deadLetter: () => value as undefined });
    expect(normalized.deadLetter).toBeUndefined();
    expect(faultsOf(normalized)).toEqual([]);
  });
});

describe('noAck', () => {
  it('comes from the option or from consumerOptions', () => {
    const queueOptions = { consumerOptions: { noAck: true } };
    expect(aSubscription({ noAck: true }).noAck).toBe(true);
    expect(aSubscription({ queueOptions }).noAck).toBe(true);
    expect(aSubscription({ queueOptions, noAck: false }).noAck).toBe(false);
  });

  it('ignores retry of the defaults', () => {
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
    ['a rule alone ends with drop', [rule], { rules: [rule], otherwise: 'drop' }],
    ['rules and a last policy', [rule, rule, 'skip'], { rules: [rule, rule], otherwise: 'skip' }],
  ])('%s', (_name, onError, expected) => {
    expect(aSubscription({ ...(onError && { onError }) }).onError).toEqual(expected);
  });
});
