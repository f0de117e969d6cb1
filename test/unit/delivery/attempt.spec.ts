import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  acquiredOf,
  attemptOf,
  brokerCountOf,
  hasBrokerCount,
  isRepublished,
} from '../../../lib/delivery/attempt';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { aMessage, aRepublishedMessage, QUEUE } from '../fixtures';

const CLASSIC = { redeliveries: false, acquired: false };
const QUORUM = { redeliveries: true, acquired: false };
/** As RabbitMQ counts from 4.3 on. */
const ACQUIRED = { redeliveries: true, acquired: true };

const expired = { queue: 'billing.wait.1024', exchange: '', reason: 'expired', count: 1 };
const fromWaiting = [expired];

/** As amqplib decodes a table with the key `__proto__`: its value becomes the prototype. */
function withPrototype(prototype: object, own: object = {}): object {
  return Object.assign(Object.create(prototype), own);
}

/** A redelivery on a quorum queue. */
function redelivery(headers: object, base: IncomingMessage = aMessage()): IncomingMessage {
  const message = aMessage({
    headers: { ...(base.properties.headers as object), ...headers },
    exchange: base.fields.exchange,
    routingKey: base.fields.routingKey,
    redelivered: true,
  });
  return message;
}

describe('isRepublished', () => {
  it('is true for a message from the default exchange or from a waiting queue', () => {
    expect(isRepublished(aRepublishedMessage(), QUEUE)).toBe(true);
    expect(isRepublished(aRepublishedMessage({ 'x-death': fromWaiting }), QUEUE)).toBe(true);
    const quorum = [{ ...expired, queue: 'billing.waitq.1024' }];
    expect(isRepublished(aRepublishedMessage({ 'x-death': quorum }), QUEUE)).toBe(true);
  });

  it('checks only the newest x-death entry', () => {
    const older = { queue: 'elsewhere', reason: 'rejected', count: 50 };
    expect(isRepublished(aRepublishedMessage({ 'x-death': [...fromWaiting, older] }), QUEUE)).toBe(
      true,
    );
    expect(isRepublished(aRepublishedMessage({ 'x-death': [older, ...fromWaiting] }), QUEUE)).toBe(
      false,
    );
  });

  it.each<[string, IncomingMessage]>([
    [
      'was published to an exchange',
      aMessage({ headers: { 'x-settle-queue': QUEUE }, routingKey: QUEUE }),
    ],
    [
      'has another routing key',
      aMessage({ headers: { 'x-settle-queue': QUEUE }, exchange: '', routingKey: 'other' }),
    ],
    ['names another queue', aRepublishedMessage({ 'x-settle-queue': 'other' })],
    ['names no queue', aRepublishedMessage({ 'x-settle-queue': undefined })],
    ['names a queue in a list', aRepublishedMessage({ 'x-settle-queue': [QUEUE] })],
    [
      'was last dead-lettered from the queue itself',
      aRepublishedMessage({ 'x-death': [{ ...expired, queue: QUEUE }] }),
    ],
    [
      "was last dead-lettered from another queue's waiting queue",
      aRepublishedMessage({ 'x-death': [{ ...expired, queue: 'other.wait.1024' }] }),
    ],
    [
      'came to a queue with the name of a waiting queue through an exchange',
      aRepublishedMessage({ 'x-death': [{ ...expired, exchange: 'retries' }] }),
    ],
    [
      'has an x-death entry without a queue',
      aRepublishedMessage({ 'x-death': [{ exchange: '' }] }),
    ],
    ['has an empty x-death', aRepublishedMessage({ 'x-death': [] })],
    ['has an x-death that is not a list', aRepublishedMessage({ 'x-death': expired })],
    [
      'has an x-death entry that is a text',
      aRepublishedMessage({ 'x-death': ['billing.wait.1024'] }),
    ],
    ['has an x-death entry that is null', aRepublishedMessage({ 'x-death': [null] })],
    ['has null as x-death', aRepublishedMessage({ 'x-death': null })],
    [
      'has an x-death entry with an inherited queue',
      aRepublishedMessage({ 'x-death': [withPrototype(expired, { exchange: '' })] }),
    ],
    [
      'names the queue in an inherited header',
      aMessage({
        exchange: '',
        routingKey: QUEUE,
        headers: withPrototype({ 'x-settle-queue': QUEUE }),
      }),
    ],
    ['has no headers', aMessage({ exchange: '', routingKey: QUEUE, headers: undefined })],
    ['has null as headers', aMessage({ exchange: '', routingKey: QUEUE, headers: null })],
  ])('is false for a message that %s', (_name, message) => {
    expect(isRepublished(message, QUEUE)).toBe(false);
  });
});

describe('attemptOf', () => {
  it.each([undefined, null, {}])('is 1 for a first delivery with headers %o', (headers) => {
    for (const counts of [CLASSIC, QUORUM, ACQUIRED]) {
      expect(attemptOf(aMessage({ headers }), QUEUE, counts)).toBe(1);
    }
  });

  it('reads the header of a republished message', () => {
    expect(attemptOf(aRepublishedMessage({ 'x-settle-attempt': 4 }), QUEUE, CLASSIC)).toBe(4);
    expect(attemptOf(aRepublishedMessage({ 'x-settle-attempt': 1 }), QUEUE, CLASSIC)).toBe(1);
  });

  it('leaves at least one attempt whatever the header is', () => {
    const message = aRepublishedMessage({ 'x-settle-attempt': 2 ** 31 - 1 });
    expect(attemptOf(message, QUEUE, CLASSIC, 3)).toBe(3);
    expect(attemptOf(redelivery({ 'x-delivery-count': 1 }, message), QUEUE, QUORUM, 3)).toBe(4);
  });

  it("adds the broker's count to the header", () => {
    const message = aRepublishedMessage({ 'x-settle-attempt': 4 });
    expect(attemptOf(redelivery({ 'x-delivery-count': 2 }, message), QUEUE, QUORUM)).toBe(6);
    expect(attemptOf(redelivery({ 'x-delivery-count': 2 }), QUEUE, QUORUM)).toBe(3);
  });

  it('ignores x-delivery-count on a classic queue, where only a client can set it', () => {
    expect(attemptOf(redelivery({ 'x-delivery-count': 9 }), QUEUE, CLASSIC)).toBe(1);
  });

  it('is 1 for a message that was moved back from the dead-letter queue', () => {
    const dead = {
      'x-settle-reason': 'attempts',
      'x-settle-attempts-made': 5,
      'x-settle-queue': QUEUE,
    };
    expect(attemptOf(aRepublishedMessage(dead), QUEUE, CLASSIC)).toBe(1);
  });

  it('is 1 for a message that the broker dead-lettered and that was moved back', () => {
    const headers = { 'x-settle-attempt': 5, 'x-death': [{ queue: QUEUE, reason: 'rejected' }] };
    expect(attemptOf(aRepublishedMessage(headers), QUEUE, CLASSIC)).toBe(1);
  });

  it('is 1 for a message that a handler forwarded with all headers', () => {
    const headers = { 'x-settle-attempt': 5, 'x-settle-queue': QUEUE };
    const forwarded = aMessage({ headers, exchange: '', routingKey: 'shipping' });
    expect(attemptOf(forwarded, 'shipping', CLASSIC)).toBe(1);
    expect(attemptOf(aMessage({ headers, exchange: 'orders' }), QUEUE, CLASSIC)).toBe(1);
  });

  it('never uses the count in x-death', () => {
    const deaths = [{ queue: 'other', reason: 'expired', count: 50 }];
    for (const counts of [CLASSIC, QUORUM, ACQUIRED]) {
      expect(attemptOf(aMessage({ headers: { 'x-death': deaths } }), QUEUE, counts)).toBe(1);
    }
    const message = aRepublishedMessage({
      'x-settle-attempt': 2,
      'x-death': [{ ...fromWaiting[0], count: 50 }],
    });
    expect(attemptOf(message, QUEUE, CLASSIC)).toBe(2);
  });

  it('ignores inherited headers', () => {
    const own = { 'x-settle-queue': QUEUE };
    const headers = withPrototype({ 'x-settle-attempt': 999, 'x-delivery-count': 999 }, own);
    const message = aMessage({ exchange: '', routingKey: QUEUE, headers, redelivered: true });
    expect(attemptOf(message, QUEUE, CLASSIC)).toBe(1);
    expect(attemptOf(message, QUEUE, QUORUM)).toBe(1);
  });

  it.each([
    '2',
    -5,
    0,
    -0,
    1.5,
    1e12,
    2 ** 31,
    2 ** 63,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    [],
    [3],
    {},
    null,
    true,
    5n,
    Buffer.from([3]),
    new Date(3),
    { '!': 'timestamp', value: 3 },
    'x'.repeat(10_000),
  ])('is 1 if the header is %o', (value) => {
    expect(attemptOf(aRepublishedMessage({ 'x-settle-attempt': value }), QUEUE, CLASSIC)).toBe(1);
    const counted = redelivery(
      { 'x-delivery-count': 1 },
      aRepublishedMessage({ 'x-settle-attempt': value }),
    );
    expect(attemptOf(counted, QUEUE, QUORUM)).toBe(2);
  });

  it('is an integer of at least 1 for any headers', () => {
    const names = [
      'x-settle-attempt',
      'x-settle-queue',
      'x-delivery-count',
      'x-acquired-count',
      'x-death',
    ];
    const value = fc.oneof(
      fc.anything(),
      fc.integer(),
      fc.double(),
      fc.constant(QUEUE),
      fc.constant(fromWaiting),
    );
    const headers = fc.oneof(
      fc.dictionary(fc.constantFrom(...names), value),
      fc.constantFrom(undefined, null, {}),
    );
    fc.assert(
      fc.property(
        headers,
        fc.boolean(),
        fc.constantFrom(CLASSIC, QUORUM, ACQUIRED),
        fc.boolean(),
        (table, own, counts, redelivered) => {
          const message = aMessage({
            headers: own && table ? { 'x-settle-queue': QUEUE, ...table } : table,
            ...(own && { exchange: '', routingKey: QUEUE }),
            redelivered,
          });
          const attempt = attemptOf(message, QUEUE, counts);
          expect(Number.isSafeInteger(attempt)).toBe(true);
          expect(attempt).toBeGreaterThanOrEqual(1);
          if (counts === CLASSIC && !own) expect(attempt).toBe(1);
          if (!redelivered) expect(attemptOf(message, QUEUE, counts, 3)).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('brokerCountOf', () => {
  it('reads x-delivery-count of redeliveries only', () => {
    expect(brokerCountOf(redelivery({ 'x-delivery-count': 3 }), false)).toBe(3);
    expect(brokerCountOf(redelivery({ 'x-delivery-count': 0 }), false)).toBe(0);
    expect(brokerCountOf(redelivery({}), false)).toBe(0);
    expect(brokerCountOf(aMessage({ headers: { 'x-delivery-count': 3 } }), false)).toBe(0);
  });

  it('ignores a count above x-acquired-count', () => {
    const of = (count: unknown, acquired: unknown): number =>
      brokerCountOf(redelivery({ 'x-delivery-count': count, 'x-acquired-count': acquired }), true);
    expect(of(2, 2)).toBe(2);
    expect(of(2, 5)).toBe(2);
    expect(of(3, 2)).toBe(0);
    expect(of(3, '5')).toBe(0);
    expect(of(3, -1)).toBe(0);
    expect(of(3, null)).toBe(0);
    expect(of(3, 5.5)).toBe(0);
    expect(of(3, undefined)).toBe(3);
  });

  it("ignores an x-acquired-count that is not the broker's", () => {
    const of = (acquired: unknown): number =>
      brokerCountOf(redelivery({ 'x-delivery-count': 3, 'x-acquired-count': acquired }), false);
    for (const acquired of [0, 2, 7, -1, 'x', null]) expect(of(acquired)).toBe(3);
  });

  it.each(['3', -1, 1.5, Number.NaN, null, true, [3], {}, 3n, 2 ** 31])(
    'is 0 if the header is %o',
    (value) => {
      expect(brokerCountOf(redelivery({ 'x-delivery-count': value }), false)).toBe(0);
    },
  );

  it('is 0 without headers', () => {
    expect(brokerCountOf(aMessage({ headers: undefined, redelivered: true }), false)).toBe(0);
  });
});

describe('hasBrokerCount', () => {
  it.each<[unknown, boolean]>([
    [{ 'x-delivery-count': 1 }, true],
    [{ 'x-delivery-count': 0 }, true],
    [{ 'x-acquired-count': 1 }, true],
    [{ 'x-settle-attempt': 2, 'x-death': [] }, false],
    [withPrototype({ 'x-delivery-count': 1 }), false],
    [{}, false],
    [undefined, false],
    [null, false],
  ])('returns the right answer for headers %o: %s', (headers, expected) => {
    expect(hasBrokerCount(aMessage({ headers, redelivered: true }), true)).toBe(expected);
  });

  it("does not take a client's x-acquired-count for one", () => {
    expect(hasBrokerCount(redelivery({ 'x-acquired-count': 1 }), false)).toBe(false);
    expect(hasBrokerCount(redelivery({ 'x-delivery-count': 1 }), false)).toBe(true);
  });
});

describe('acquiredOf', () => {
  it.each([
    [1, aMessage({ headers: { 'x-acquired-count': 7 } })],
    [8, redelivery({ 'x-acquired-count': 7 })],
    [1, redelivery({})],
    [1, redelivery({ 'x-acquired-count': '7' })],
    [1, redelivery({ 'x-acquired-count': -7 })],
    [1, redelivery(withPrototype({ 'x-acquired-count': 7 }))],
  ])('is %i, this delivery included', (acquired, message) => {
    expect(acquiredOf(message)).toBe(acquired);
  });
});
