import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import {
  bounded,
  deadLetterMessageOf,
  type OutgoingMessage,
  retryMessageOf,
} from '../../../lib/delivery/republish';
import { aDelivery, aMessage, aRepublishedMessage, aSubscription, QUEUE } from '../fixtures';

const NOW = Date.parse('2024-05-01T12:00:00.000Z');
const EARLIER = '2024-04-30T08:00:00.000Z';

function bytes(value: unknown): number {
  return Buffer.byteLength(value as string);
}

describe('a republished message', () => {
  const kept = {
    contentType: 'application/json',
    contentEncoding: 'utf-8',
    deliveryMode: 2,
    priority: 5,
    correlationId: 'c-1',
    replyTo: 'replies',
    messageId: 'm-1',
    timestamp: 1_714_564_800,
    type: 'order.paid',
    appId: 'shop',
  };
  const dropped = { userId: 'guest', expiration: '2000', clusterId: 'c', unknown: 'x' };

  const kinds: readonly (readonly [
    string,
    (delivery: ReturnType<typeof aDelivery>) => OutgoingMessage,
  ])[] = [
    ['for the next attempt', (delivery) => retryMessageOf(delivery, 2, NOW)],
    [
      'for the dead-letter queue',
      (delivery) => deadLetterMessageOf(delivery, { reason: 'drop', withStack: false }, NOW),
    ],
  ];

  describe.each(kinds)('%s', (_name, republish) => {
    it('keeps the bytes of the body', () => {
      const content = Buffer.from([0x00, 0xff, 0x1f, 0x8b, 0xef, 0xbb, 0xbf]);
      const delivery = aDelivery({}, aMessage({ content }));
      delivery.payload = { decoded: true };
      expect(republish(delivery).body.equals(content)).toBe(true);
    });

    it('keeps the properties of the message and drops those of the delivery', () => {
      const message = aMessage({ properties: { ...kept, ...dropped } });
      expect(republish(aDelivery({}, message)).properties).toEqual(kept);
    });

    it('keeps 0 and empty texts, and adds no property', () => {
      const message = aMessage({ properties: { priority: 0, type: '', messageId: undefined } });
      expect(Object.entries(republish(aDelivery({}, message)).properties)).toEqual([
        ['priority', 0],
        ['type', ''],
      ]);
    });

    it('keeps application headers of any type unchanged', () => {
      const headers = {
        traceparent: '00-1-1-01',
        nested: { list: [1, { deep: true }] },
        at: { '!': 'timestamp', value: 1_714_564_800 },
        bytes: Buffer.from('x'),
        none: null,
        zero: 0,
        'x-retry': 'theirs',
      };
      expect(republish(aDelivery({}, aMessage({ headers }))).headers).toMatchObject(headers);
    });

    it('drops the headers of the broker and earlier x-settle- headers', () => {
      const headers = {
        CC: ['other'],
        BCC: ['hidden'],
        'x-death': [{ queue: QUEUE, count: 3 }],
        'x-first-death-queue': QUEUE,
        'x-last-death-reason': 'rejected',
        'x-delivery-count': 3,
        'x-acquired-count': 4,
        'x-settle-copy': 17,
        'x-settle-future': 'unknown',
        'x-settle-error-stack': 'old',
      };
      const names = Object.keys(republish(aDelivery({}, aMessage({ headers }))).headers);
      expect(names.filter((name) => name in headers)).toEqual([]);
    });

    it.each([undefined, null, {}])(
      'sets its own headers if those of the message are %o',
      (headers) => {
        expect(republish(aDelivery({}, aMessage({ headers }))).headers).toMatchObject({
          'x-settle-queue': QUEUE,
          'x-settle-exchange': 'orders',
          'x-settle-routing-key': 'order.paid',
        });
      },
    );

    it('keeps the first exchange and routing key', () => {
      const message = aRepublishedMessage({
        'x-settle-exchange': 'orders',
        'x-settle-routing-key': 'order.paid',
        'x-settle-attempt': 2,
      });
      expect(republish(aDelivery({}, message, 2)).headers).toMatchObject({
        'x-settle-exchange': 'orders',
        'x-settle-routing-key': 'order.paid',
      });
    });

    it('keeps headers named __proto__ and constructor', () => {
      const headers = JSON.parse('{"__proto__": {"x-settle-attempt": 999}, "constructor": 1}');
      const republished = republish(aDelivery({}, aMessage({ headers }))).headers;
      expect(Object.hasOwn(republished, '__proto__')).toBe(true);
      expect(Object.getOwnPropertyDescriptor(republished, '__proto__')?.value).toEqual({
        'x-settle-attempt': 999,
      });
      expect(republished['constructor']).toBe(1);
      expect(({} as Record<string, unknown>)['x-settle-attempt']).toBeUndefined();
    });

    it('ignores inherited headers', () => {
      const headers = Object.assign(Object.create({ inherited: 1 }), { own: 2 });
      const republished = republish(aDelivery({}, aMessage({ headers }))).headers;
      const names: string[] = [];
      for (const name in republished) names.push(name);
      expect(names).toContain('own');
      expect(names).not.toContain('inherited');
    });

    it('does not grow with each republish', () => {
      let delivery = aDelivery({}, aMessage({ headers: { tenant: 'acme' } }));
      const sizes: number[] = [];
      for (let round = 0; round < 5; round++) {
        const { headers } = republish(delivery);
        sizes.push(Object.keys(headers).length);
        delivery = aDelivery(
          {},
          aRepublishedMessage({ ...headers, 'x-death': [{ queue: 'billing.wait.8' }] }),
        );
      }
      expect(new Set(sizes.slice(1)).size).toBe(1);
    });

    it('does not change the original', () => {
      const headers = Object.freeze({ 'x-settle-attempt': 1, tenant: 'acme' });
      republish(aDelivery({}, aMessage({ headers })));
      expect(headers).toEqual({ 'x-settle-attempt': 1, tenant: 'acme' });
    });
  });
});

describe('retryMessageOf', () => {
  it('sets the next attempt as an integer', () => {
    const message = aRepublishedMessage({ 'x-settle-attempt': '2' });
    expect(retryMessageOf(aDelivery({}, message, 2), 3, NOW).headers['x-settle-attempt']).toBe(3);
  });

  it('has no error headers', () => {
    const names = Object.keys(retryMessageOf(aDelivery(), 2, NOW).headers);
    expect(names.sort()).toEqual([
      'x-settle-attempt',
      'x-settle-exchange',
      'x-settle-first-failed-at',
      'x-settle-queue',
      'x-settle-routing-key',
    ]);
  });
});

describe('x-settle-first-failed-at', () => {
  const firstFailedAt = (...args: Parameters<typeof aDelivery>): unknown =>
    retryMessageOf(aDelivery(...args), 9, NOW).headers['x-settle-first-failed-at'];

  it('is the current time on attempt 1', () => {
    expect(firstFailedAt({}, aMessage(), 1)).toBe('2024-05-01T12:00:00.000Z');
  });

  it('is kept by later attempts', () => {
    const headers = { 'x-settle-attempt': 2, 'x-settle-first-failed-at': EARLIER };
    expect(firstFailedAt({}, aRepublishedMessage(headers), 2)).toBe(EARLIER);
  });

  it('is the current time if a dead letter that was put back fails again', () => {
    const headers = { 'x-settle-reason': 'drop', 'x-settle-first-failed-at': EARLIER };
    expect(firstFailedAt({}, aRepublishedMessage(headers), 1)).toBe('2024-05-01T12:00:00.000Z');
  });

  it('is the first failure that was seen if retry.maxAge needs one', () => {
    const options = { retry: { attempts: 3, maxAge: '1m' as const } };
    expect(firstFailedAt(options, aMessage({ redelivered: true }), 2)).toBe(
      '2024-05-01T12:00:00.000Z',
    );
  });

  it('is absent if redeliveries by the broker made it unknown', () => {
    expect(firstFailedAt({}, aMessage({ redelivered: true }), 3)).toBeUndefined();
    expect(
      firstFailedAt({}, aRepublishedMessage({ 'x-settle-first-failed-at': 'x' }), 3),
    ).toBeUndefined();
  });
});

describe('the retry of a dead letter', () => {
  const diagnosis = {
    'x-settle-reason': 'error',
    'x-settle-error-name': 'CardDeclined',
    'x-settle-error-message': 'no cover',
    'x-settle-attempts-made': 3,
    'x-settle-failed-at': EARLIER,
    'x-settle-handler': 'Billing.charge',
  };
  const origin = {
    'x-settle-origin-queue': 'billing',
    'x-settle-origin-exchange': 'orders',
    'x-settle-origin-routing-key': 'order.paid',
  };

  function retryOf(headers: Record<string, unknown>, attempt: number): Record<string, unknown> {
    const message = aMessage({ exchange: '', routingKey: 'billing.dead', headers });
    const delivery = new DeliveryRecord(aSubscription(), message, 'billing.dead', attempt);
    return { ...retryMessageOf(delivery, attempt + 1, NOW).headers };
  }

  it('keeps the diagnosis, and where the message came from', () => {
    const dead = {
      ...diagnosis,
      'x-settle-queue': 'billing',
      'x-settle-exchange': 'orders',
      'x-settle-routing-key': 'order.paid',
      'x-settle-first-failed-at': EARLIER,
    };
    const first = retryOf(dead, 1);
    expect(first).toMatchObject({
      ...diagnosis,
      ...origin,
      'x-settle-attempt': 2,
      'x-settle-queue': 'billing.dead',
      'x-settle-first-failed-at': '2024-05-01T12:00:00.000Z',
    });
    expect(retryOf(first, 2)).toMatchObject({ ...diagnosis, ...origin, 'x-settle-attempt': 3 });
  });

  it('keeps nothing of it once the dead letter was put back in its own queue', () => {
    const headers = retryOf({ ...diagnosis, 'x-settle-queue': 'billing.dead' }, 1);
    expect(headers).not.toHaveProperty('x-settle-reason');
    expect(headers).not.toHaveProperty('x-settle-origin-queue');
  });
});

describe('bounded', () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 40 })
    .filter((value) => !value.includes('\uFFFD'));

  it('returns the longest prefix that fits', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 60 }), (value, limit) => {
        const result = bounded(value, limit);
        expect(value.startsWith(result)).toBe(true);
        expect(bytes(result)).toBeLessThanOrEqual(limit);
        const [next = ''] = value.slice(result.length);
        expect(next === '' || bytes(result + next) > limit).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
