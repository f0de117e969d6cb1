import { describe, expect, it } from 'vitest';
import type { ServerVersion } from '../../../lib/amqp/queue-declarations';
import { versionWarnings } from '../../../lib/amqp/version-checks';
import { on, retry } from '../../../lib/index';
import type { SubscribeOptions } from '../../../lib/model/options';
import { aSubscription, QUEUE } from '../fixtures';

const OLD: ServerVersion = [3, 13];
const NEW: ServerVersion = [4, 0];

function warningsOf(options: SubscribeOptions, version: ServerVersion): string[] {
  const subscription = aSubscription({
    queue: QUEUE,
    queueType: 'quorum',
    ...options,
  } as SubscribeOptions);
  return versionWarnings(subscription, version).map(({ kind, text }) => `${kind}: ${text}`);
}

const limited = (limit: unknown) => ({
  queueOptions: { arguments: { 'x-delivery-limit': limit } },
});

describe('x-delivery-limit of the subscription', () => {
  it.each([OLD, NEW])('warns of a limit below retry.attempts, on %j', (...version) => {
    const options = { ...limited(2), retry: { attempts: 4 } };
    expect(warningsOf(options, version as unknown as ServerVersion)).toEqual([
      'delivery-limit: queueOptions: x-delivery-limit: expected at least 3 for retry.attempts 4; found 2, at which RabbitMQ dead-letters or deletes a message first.',
    ]);
  });

  it('ignores it if the queue is declared elsewhere', () => {
    const options = { ...limited(2), retry: { attempts: 4 }, declare: { queue: false } };
    expect(warningsOf(options, NEW)).toEqual([
      expect.stringMatching(/^unknown-delivery-limit: .*not visible over AMQP/),
    ]);
  });

  it('accepts a limit that retry.attempts does not reach', () => {
    expect(warningsOf({ ...limited(3), retry: { attempts: 4 } }, NEW)).toEqual([]);
    expect(warningsOf(limited(3), NEW)).toEqual([]);
    expect(warningsOf({ ...limited('3'), retry: { attempts: 9 } }, NEW)).toEqual([]);
  });

  it('warns of a negative limit before 4.0, where it deletes messages', () => {
    const options = { ...limited(-1), retry: { attempts: 4 } };
    expect(warningsOf(options, OLD)).toEqual([
      expect.stringMatching(/^delivery-limit: .*expected none.* 3\.13 /),
    ]);
    expect(warningsOf(options, NEW)).toEqual([]);
  });
});

describe('the limit of a queue that is declared elsewhere', () => {
  const undeclared = (attempts: number) => ({
    declare: false as const,
    retry: { attempts },
  });

  it.each([
    [
      OLD,
      22,
      /^unknown-delivery-limit: .*not visible over AMQP; expected at least 21 .* There is no default limit\.$/,
    ],
    [NEW, 22, /^delivery-limit: .*expected at least 21 .* The default limit is 20\.$/],
    [NEW, 21, /^unknown-delivery-limit: .*expected at least 20 .* The default limit is 20\.$/],
    [OLD, 2, /^unknown-delivery-limit: .*expected at least 1 /],
  ])('is reported as unknown or too low, on %j with %i attempts', (version, attempts, text) => {
    expect(warningsOf(undeclared(attempts), version)).toEqual([expect.stringMatching(text)]);
  });

  it('is reported without retry from 4.0 on, since restarts count', () => {
    expect(warningsOf({ declare: false }, NEW)).toEqual([
      expect.stringMatching(/^unknown-delivery-limit: .*each restart by failFast counts/),
    ]);
    expect(warningsOf({ declare: false }, OLD)).toEqual([]);
  });

  it('is not reported without retries, for an own queue or for a classic queue', () => {
    expect(warningsOf(undeclared(1), NEW)).toEqual([]);
    expect(warningsOf({ declare: { waiting: false }, retry: { attempts: 30 } }, NEW)).toEqual([]);
    expect(warningsOf({ ...undeclared(30), queueType: 'classic' }, NEW)).toEqual([]);
  });
});

describe('the policy retry without retry.attempts', () => {
  const deleted =
    /^delivery-limit: a policy is 'retry' .* after 20 redeliveries RabbitMQ deletes the message/;

  it.each<[string, SubscribeOptions]>([
    ['onError', { onError: 'retry' }],
    ['a rule of onError', { onError: [on(RangeError, 'retry'), 'drop'] }],
    ['an outcome', { onError: retry() }],
    ['onPanic', { onPanic: 'retry' }],
    ['with a client-side dead-letter queue', { onError: 'retry', deadLetter: 'd' }],
  ])(
    'warns from 4.0 on that a queue declared elsewhere deletes the message: %s',
    (_which, options) => {
      const elsewhere = { ...options, declare: { queue: false } } as SubscribeOptions;
      expect(warningsOf(elsewhere, NEW)).toContainEqual(expect.stringMatching(deleted));
      expect(warningsOf(elsewhere, OLD)).toEqual([]);
      expect(warningsOf(options, NEW)).toEqual([]);
    },
  );

  it('warns of an explicit limit on any version', () => {
    const options = { ...limited(3), onError: 'retry' as const };
    expect(warningsOf(options, OLD)).toEqual([expect.stringMatching(/after 3 redeliveries/)]);
  });

  it.each<[string, SubscribeOptions]>([
    ['with retry', { onError: 'retry', retry: { attempts: 3 } }],
    [
      'with a dead-letter exchange',
      { onError: 'retry', queueOptions: { deadLetterExchange: 'x' } },
    ],
    [
      'with a dead-letter exchange in the arguments',
      { onError: 'retry', queueOptions: { arguments: { 'x-dead-letter-exchange': '' } } },
    ],
    ["with deadLetter.by 'broker'", { onError: 'retry', deadLetter: { queue: 'd', by: 'broker' } }],
    ['without a limit', { onError: 'retry', ...limited(-1) }],
    ['for retryAfter', { onError: 'retryAfter' }],
    ['with noAck', { onError: 'retry', noAck: true }],
    ['on a classic queue', { onError: 'retry', queueType: 'classic' }],
  ])('does not warn %s', (_which, options) => {
    expect(warningsOf(options, NEW)).toEqual([]);
  });
});
