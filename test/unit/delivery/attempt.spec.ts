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
import { aMessage, ownCopy, QUEUE } from '../fixtures';

const CLASSIC = false;
const QUORUM = true;

const fromWaiting = [{ queue: 'billing.wait.1024', reason: 'expired', count: 1 }];

/** What amqplib decodes when a table has the key `__proto__`: its value becomes the prototype. */
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

describe('isOwnCopy', () => {
  it('is true of a copy that came straight, or through one of our waiting queues', () => {
    expect(isRepublished(ownCopy(), QUEUE)).toBe(true);
    expect(isRepublished(ownCopy({ 'x-death': fromWaiting }), QUEUE)).toBe(true);
    const quorum = [{ queue: 'billing.waitq.1024', reason: 'expired', count: 1 }];
    expect(isRepublished(ownCopy({ 'x-death': quorum }), QUEUE)).toBe(true);
  });

  it('looks at the newest death only', () => {
    const older = { queue: 'elsewhere', reason: 'rejected', count: 50 };
    expect(isRepublished(ownCopy({ 'x-death': [...fromWaiting, older] }), QUEUE)).toBe(true);
    expect(isRepublished(ownCopy({ 'x-death': [older, ...fromWaiting] }), QUEUE)).toBe(false);
  });

  it.each<[string, IncomingMessage]>([
    [
      'came through an exchange',
      aMessage({ headers: { 'x-settle-queue': QUEUE }, routingKey: QUEUE }),
    ],
    [
      'came with another routing key',
      aMessage({ headers: { 'x-settle-queue': QUEUE }, exchange: '', routingKey: 'other' }),
    ],
    ['names another queue', ownCopy({ 'x-settle-queue': 'other' })],
    ['names none', ownCopy({ 'x-settle-queue': undefined })],
    ['names none as a text', ownCopy({ 'x-settle-queue': [QUEUE] })],
    ['was last dead-lettered from the queue itself', ownCopy({ 'x-death': [{ queue: QUEUE }] })],
    [
      'was last dead-lettered from a foreign waiting queue',
      ownCopy({ 'x-death': [{ queue: 'other.wait.1024' }] }),
    ],
    ['has a death that names no queue', ownCopy({ 'x-death': [{}] })],
    ['has an empty list of deaths', ownCopy({ 'x-death': [] })],
    ['has deaths that are no list', ownCopy({ 'x-death': { queue: 'billing.wait.1024' } })],
    ['has a death that is a text', ownCopy({ 'x-death': ['billing.wait.1024'] })],
    ['has a death that is null', ownCopy({ 'x-death': [null] })],
    ['has null for deaths', ownCopy({ 'x-death': null })],
    [
      'has a death whose queue is inherited',
      ownCopy({ 'x-death': [withPrototype({ queue: 'billing.wait.1024' })] }),
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
    ['has null for headers', aMessage({ exchange: '', routingKey: QUEUE, headers: null })],
  ])('is false of a message that %s', (_name, message) => {
    expect(isRepublished(message, QUEUE)).toBe(false);
  });
});

describe('the attempt', () => {
  it.each([undefined, null, {}])('of a first delivery is 1, with the headers %o', (headers) => {
    for (const counts of [CLASSIC, QUORUM]) {
      expect(attemptOf(aMessage({ headers }), QUEUE, counts)).toBe(1);
    }
  });

  it('of our copy is what its header says', () => {
    expect(attemptOf(ownCopy({ 'x-settle-attempt': 4 }), QUEUE, CLASSIC)).toBe(4);
    expect(attemptOf(ownCopy({ 'x-settle-attempt': 1 }), QUEUE, CLASSIC)).toBe(1);
  });

  it('is the header and the broker’s count together', () => {
    const copy = ownCopy({ 'x-settle-attempt': 4 });
    expect(attemptOf(redelivery({ 'x-delivery-count': 2 }, copy), QUEUE, QUORUM)).toBe(6);
    expect(attemptOf(redelivery({ 'x-delivery-count': 2 }), QUEUE, QUORUM)).toBe(3);
  });

  it('does not read a count on a classic queue, where a client may have put it', () => {
    expect(attemptOf(redelivery({ 'x-delivery-count': 9 }), QUEUE, CLASSIC)).toBe(1);
  });

  it('starts at 1 for a message that somebody put back from the dead-letter queue', () => {
    const dead = {
      'x-settle-reason': 'attempts',
      'x-settle-attempts-made': 5,
      'x-settle-queue': QUEUE,
    };
    expect(attemptOf(ownCopy(dead), QUEUE, CLASSIC)).toBe(1);
  });

  it('starts at 1 for what the broker dead-lettered and somebody put back', () => {
    const headers = { 'x-settle-attempt': 5, 'x-death': [{ queue: QUEUE, reason: 'rejected' }] };
    expect(attemptOf(ownCopy(headers), QUEUE, CLASSIC)).toBe(1);
  });

  it('starts at 1 for a message that a handler forwarded with all its headers', () => {
    const headers = { 'x-settle-attempt': 5, 'x-settle-queue': QUEUE };
    const toAnotherQueue = aMessage({ headers, exchange: '', routingKey: 'shipping' });
    expect(attemptOf(toAnotherQueue, 'shipping', CLASSIC)).toBe(1);
    expect(attemptOf(aMessage({ headers, exchange: 'orders' }), QUEUE, CLASSIC)).toBe(1);
  });

  it('never comes from x-death', () => {
    const deaths = [{ queue: 'other', reason: 'expired', count: 50 }];
    for (const counts of [CLASSIC, QUORUM]) {
      expect(attemptOf(aMessage({ headers: { 'x-death': deaths } }), QUEUE, counts)).toBe(1);
    }
    const copy = ownCopy({ 'x-settle-attempt': 2, 'x-death': [{ ...fromWaiting[0], count: 50 }] });
    expect(attemptOf(copy, QUEUE, CLASSIC)).toBe(2);
  });

  it('is read as an own property', () => {
    const own = { 'x-settle-queue': QUEUE };
    const headers = withPrototype({ 'x-settle-attempt': 999, 'x-delivery-count': 999 }, own);
    const copy = aMessage({ exchange: '', routingKey: QUEUE, headers, redelivered: true });
    expect(attemptOf(copy, QUEUE, CLASSIC)).toBe(1);
    expect(attemptOf(copy, QUEUE, QUORUM)).toBe(1);
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
  ])('is 1 where the header is %o', (value) => {
    expect(attemptOf(ownCopy({ 'x-settle-attempt': value }), QUEUE, CLASSIC)).toBe(1);
    const counted = redelivery({ 'x-delivery-count': 1 }, ownCopy({ 'x-settle-attempt': value }));
    expect(attemptOf(counted, QUEUE, QUORUM)).toBe(2);
  });

  it('is a whole number of at least 1, for whatever headers', () => {
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
        fc.boolean(),
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
          if (!counts && !own) expect(attempt).toBe(1);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe('the broker’s count', () => {
  it('is that of a redelivery, and absent on a first delivery', () => {
    expect(brokerCountOf(redelivery({ 'x-delivery-count': 3 }))).toBe(3);
    expect(brokerCountOf(redelivery({ 'x-delivery-count': 0 }))).toBe(0);
    expect(brokerCountOf(redelivery({}))).toBe(0);
    expect(brokerCountOf(aMessage({ headers: { 'x-delivery-count': 3 } }))).toBe(0);
  });

  it('may not be above x-acquired-count, where that is present', () => {
    const of = (count: unknown, acquired: unknown): number =>
      brokerCountOf(redelivery({ 'x-delivery-count': count, 'x-acquired-count': acquired }));
    expect(of(2, 2)).toBe(2);
    expect(of(2, 5)).toBe(2);
    expect(of(3, 2)).toBe(0);
    expect(of(3, '5')).toBe(0);
    expect(of(3, -1)).toBe(0);
    expect(of(3, null)).toBe(0);
    expect(of(3, 5.5)).toBe(0);
  });

  it.each(['3', -1, 1.5, Number.NaN, null, true, [3], {}, 3n, 2 ** 31])(
    'is 0 where it is %o',
    (value) => {
      expect(brokerCountOf(redelivery({ 'x-delivery-count': value }))).toBe(0);
    },
  );

  it('is 0 without headers', () => {
    expect(brokerCountOf(aMessage({ headers: undefined, redelivered: true }))).toBe(0);
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
  ])('of %o: %s', (headers, expected) => {
    expect(hasBrokerCount(aMessage({ headers, redelivered: true }))).toBe(expected);
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
  ])('is %i: this time, and what a redelivery tells', (acquired, message) => {
    expect(acquiredOf(message)).toBe(acquired);
  });
});
