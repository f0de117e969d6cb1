import { describe, expect, it, vi } from 'vitest';
import { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import { aDelivery, aMessage, aRepublishedMessage, aSubscription, QUEUE } from '../fixtures';

const restored = {
  'x-settle-attempt': 2,
  'x-settle-exchange': 'orders',
  'x-settle-routing-key': 'order.paid',
  'x-settle-first-failed-at': '2024-05-01T12:00:00.000Z',
};

describe('DeliveryRecord', () => {
  it('exposes its message', () => {
    const message = aMessage({
      headers: { tenant: 'acme' },
      properties: { messageId: 'm-1' },
      redelivered: true,
    });
    const delivery = aDelivery({}, message, 3);
    expect(delivery).toMatchObject({ message, queue: QUEUE, attempt: 3, payload: undefined });
    expect(delivery.headers).toEqual({ tenant: 'acme' });
    expect(delivery.messageId).toBe('m-1');
    expect(delivery.redelivered).toBe(true);
    expect(delivery.exchange).toBe('orders');
    expect(delivery.routingKey).toBe('order.paid');
    expect(delivery.firstFailedAt).toBeUndefined();
  });

  it.each([undefined, null])('has empty headers if those of the message are %s', (headers) => {
    expect(aDelivery({}, aMessage({ headers })).headers).toEqual({});
  });

  it('knows the last attempt only with retry.attempts', () => {
    const isLast = (attempts: number | undefined, attempt: number): boolean =>
      aDelivery({ ...(attempts && { retry: { attempts } }) }, aMessage(), attempt).isLastAttempt;
    expect(isLast(3, 2)).toBe(false);
    expect(isLast(3, 3)).toBe(true);
    expect(isLast(3, 4)).toBe(true);
    expect(isLast(1, 1)).toBe(true);
    expect(isLast(undefined, 99)).toBe(false);
  });
});

describe('exchange and routingKey', () => {
  it('of a republished message are those of the first publish', () => {
    const delivery = aDelivery({}, aRepublishedMessage(restored), 2);
    expect(delivery.exchange).toBe('orders');
    expect(delivery.routingKey).toBe('order.paid');
    expect(delivery.firstFailedAt).toEqual(new Date('2024-05-01T12:00:00.000Z'));
  });

  it('are also in message.fields, and the message stays the delivered one', () => {
    const message = aRepublishedMessage(restored);
    const delivery = aDelivery({}, message, 2);
    expect(delivery.message).toBe(message);
    expect(message.fields).toEqual({
      consumerTag: 'tag',
      deliveryTag: 1,
      redelivered: false,
      exchange: 'orders',
      routingKey: 'order.paid',
    });
  });

  it('are restored for a first publish to the default exchange', () => {
    const headers = { 'x-settle-exchange': '', 'x-settle-routing-key': QUEUE };
    const delivery = aDelivery({}, aRepublishedMessage(headers), 2);
    expect(delivery.exchange).toBe('');
    expect(delivery.routingKey).toBe(QUEUE);
  });

  it("of a message that only carries the library's headers are its own", () => {
    const forwarded = aMessage({
      headers: { 'x-settle-queue': QUEUE, ...restored },
      exchange: 'audits',
      routingKey: 'seen',
    });
    const delivery = aDelivery({}, forwarded);
    expect(delivery.exchange).toBe('audits');
    expect(delivery.routingKey).toBe('seen');
    expect(delivery.firstFailedAt).toBeUndefined();
  });

  it('of a message republished for another queue, such as an earlier server-named one, are its own', () => {
    const delivery = new DeliveryRecord(
      aSubscription(),
      aRepublishedMessage(restored),
      'amq.gen-2',
      1,
    );
    expect(delivery.exchange).toBe('');
    expect(delivery.routingKey).toBe(QUEUE);
  });

  it.each([5, null, ['orders'], undefined])(
    'are those of the delivery if a header is %o',
    (value) => {
      const headers = { 'x-settle-exchange': value, 'x-settle-routing-key': value };
      const delivery = aDelivery({}, aRepublishedMessage(headers), 2);
      expect(delivery.exchange).toBe('');
      expect(delivery.routingKey).toBe(QUEUE);
    },
  );
});

describe('firstFailedAt', () => {
  it.each(['', 'yesterday', 5, null, '2024-13-45T00:00:00Z'])('is undefined for %o', (value) => {
    const headers = { 'x-settle-attempt': 2, 'x-settle-first-failed-at': value };
    const delivery = aDelivery({}, aRepublishedMessage(headers), 2);
    expect(delivery.firstFailedAt).toBeUndefined();
  });
});

it('a dead letter that was put back in its queue has not failed yet', () => {
  const headers = { ...restored, 'x-settle-attempt': undefined, 'x-settle-reason': 'error' };
  const delivery = aDelivery({}, aRepublishedMessage(headers), 1);
  expect([delivery.isRetried, delivery.firstFailedAt]).toEqual([false, undefined]);
  expect(delivery.exchange).toBe('orders');
});

describe('signal', () => {
  it('is always the same', () => {
    const delivery = aDelivery();
    expect(delivery.signal).toBe(delivery.signal);
    expect(delivery.signal.aborted).toBe(false);
    expect(delivery.abortReason).toBeUndefined();
  });

  it('is created on first use', () => {
    const constructed = vi.spyOn(globalThis, 'AbortController');
    try {
      const delivery = aDelivery();
      delivery.abort(new Error('late'));
      expect(constructed).not.toHaveBeenCalled();
      expect(delivery.abortReason).toEqual(new Error('late'));
    } finally {
      constructed.mockRestore();
    }
  });

  it('notifies listeners with the reason', () => {
    const delivery = aDelivery();
    const listener = vi.fn();
    delivery.signal.addEventListener('abort', listener);
    const reason = new Error('why');
    delivery.abort(reason);
    expect(listener).toHaveBeenCalledOnce();
    expect(delivery.signal.reason).toBe(reason);
    expect(delivery.abortReason).toBe(reason);
  });

  it('is already aborted if it is first used after the abort', () => {
    const delivery = aDelivery();
    const reason = new Error('why');
    delivery.abort(reason);
    expect(delivery.signal.aborted).toBe(true);
    expect(delivery.signal.reason).toBe(reason);
  });

  it.each(['before', 'after'])('keeps its first reason (first used %s the abort)', (when) => {
    const delivery = aDelivery();
    if (when === 'before') expect(delivery.signal.aborted).toBe(false);
    const first = new Error('first');
    delivery.abort(first);
    delivery.abort(new Error('second'));
    expect(delivery.signal.reason).toBe(first);
    expect(delivery.abortReason).toBe(first);
  });
});
