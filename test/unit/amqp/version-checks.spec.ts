import { describe, expect, it } from 'vitest';
import type { ServerVersion } from '../../../lib/amqp/queue-declarations';
import { versionWarnings } from '../../../lib/amqp/version-checks';
import { on, retry } from '../../../lib/index';
import type { SubscribeOptions } from '../../../lib/model/options';
import { aSubscription, QUEUE } from '../fixtures';

const OLD: ServerVersion = [3, 13];
const NEW: ServerVersion = [4, 0];

function said(options: SubscribeOptions, version: ServerVersion): string[] {
  const subscription = aSubscription({ queue: QUEUE, queueType: 'quorum', ...options });
  return versionWarnings(subscription, version).map(({ level, text }) => `${level}: ${text}`);
}

const limited = (limit: unknown): SubscribeOptions => ({
  queueOptions: { arguments: { 'x-delivery-limit': limit } },
});

describe('a delivery limit of the subscription', () => {
  it.each([OLD, NEW])('below its attempts is said, on %j', (...version) => {
    const options = { ...limited(2), retry: { attempts: 4 } };
    expect(said(options, version as unknown as ServerVersion)).toEqual([
      'warn: queueOptions: x-delivery-limit: expected 3 or more, since retry.attempts is 4; found 2, at which the broker moves or deletes a message first',
    ]);
  });

  it('is not looked at where the queue is not declared here', () => {
    const options = { ...limited(2), retry: { attempts: 4 }, declare: { queue: false } };
    expect(said(options, NEW)).toEqual([expect.stringMatching(/can't be seen/)]);
  });

  it('that its attempts do not reach is not', () => {
    expect(said({ ...limited(3), retry: { attempts: 4 } }, NEW)).toEqual([]);
    expect(said(limited(3), NEW)).toEqual([]);
    expect(said({ ...limited('3'), retry: { attempts: 9 } }, NEW)).toEqual([]);
  });

  it('that is negative deletes before 4.0, and is none from there on', () => {
    const options = { ...limited(-1), retry: { attempts: 4 } };
    expect(said(options, OLD)).toEqual([expect.stringMatching(/^warn: .*expected none.* 3\.13 /)]);
    expect(said(options, NEW)).toEqual([]);
  });
});

describe('the limit of a queue that is not declared here', () => {
  const undeclared = (attempts: number): SubscribeOptions => ({
    declare: false,
    retry: { attempts },
  });

  it.each([
    [OLD, 22, /^info: .*can't be seen; expected 21 or more, .* there is none$/],
    [NEW, 22, /^warn: .*expected 21 or more, .* it is 20$/],
    [NEW, 21, /^info: .*expected 20 or more, .* it is 20$/],
    [OLD, 2, /^info: .*expected 1 or more/],
  ])('is what is said, on %j with %i attempts', (version, attempts, text) => {
    expect(said(undeclared(attempts), version)).toEqual([expect.stringMatching(text)]);
  });

  it('is not where no message comes back, or the queue is declared here, or it is classic', () => {
    expect(said(undeclared(1), NEW)).toEqual([]);
    expect(said({ declare: false }, NEW)).toEqual([]);
    expect(said({ declare: { waiting: false }, retry: { attempts: 30 } }, NEW)).toEqual([]);
    expect(said({ ...undeclared(30), queueType: 'classic' }, NEW)).toEqual([]);
  });
});

describe('a policy of retry without a declaration', () => {
  const deleted = /^warn: a policy says 'retry' .* after 20 returns the broker deletes the message/;

  it.each<[string, SubscribeOptions]>([
    ['onError', { onError: 'retry' }],
    ['a rule of onError', { onError: [on(RangeError, 'retry'), 'drop'] }],
    ['an outcome', { onError: retry() }],
    ['onPanic', { onPanic: 'retry' }],
    ['beside a dead-letter queue that the runtime fills', { onError: 'retry', deadLetter: 'd' }],
  ])('ends in a deletion from 4.0 on: %s', (_which, options) => {
    expect(said(options, NEW)).toEqual([expect.stringMatching(deleted)]);
    expect(said(options, OLD)).toEqual([]);
  });

  it('ends at a limit of the queue on each version', () => {
    const options = { ...limited(3), onError: 'retry' as const };
    expect(said(options, OLD)).toEqual([expect.stringMatching(/after 3 returns/)]);
  });

  it.each<[string, SubscribeOptions]>([
    ['with retry declared', { onError: 'retry', retry: { attempts: 3 } }],
    ['with a route of the queue', { onError: 'retry', queueOptions: { deadLetterExchange: 'x' } }],
    [
      'with a route among the arguments',
      { onError: 'retry', queueOptions: { arguments: { 'x-dead-letter-exchange': '' } } },
    ],
    ['moved by the broker', { onError: 'retry', deadLetter: { queue: 'd', by: 'broker' } }],
    ['without a limit', { onError: 'retry', ...limited(-1) }],
    ['by copies', { onError: 'retryAfter' }],
    ['without acknowledgements', { onError: 'retry', noAck: true }],
    ['on a classic queue', { onError: 'retry', queueType: 'classic' }],
  ])('does not %s', (_which, options) => {
    expect(said(options, NEW)).toEqual([]);
  });
});
