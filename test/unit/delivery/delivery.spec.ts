import { describe, expect, it, vi } from 'vitest';
import { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import { aDelivery, aMessage, aSubscription, ownCopy, QUEUE } from '../fixtures';

const restored = {
  'x-settle-exchange': 'orders',
  'x-settle-routing-key': 'order.paid',
  'x-settle-first-failed-at': '2024-05-01T12:00:00.000Z',
};

describe('a delivery', () => {
  it('shows its message', () => {
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

  it.each([undefined, null])('has empty headers where the message has %s', (headers) => {
    expect(aDelivery({}, aMessage({ headers })).headers).toEqual({});
  });

  it('knows its last attempt only where retry says how many there are', () => {
    const isLast = (attempts: number | undefined, attempt: number): boolean =>
      aDelivery({ ...(attempts && { retry: { attempts } }) }, aMessage(), attempt).isLastAttempt;
    expect(isLast(3, 2)).toBe(false);
    expect(isLast(3, 3)).toBe(true);
    expect(isLast(3, 4)).toBe(true);
    expect(isLast(1, 1)).toBe(true);
    expect(isLast(undefined, 99)).toBe(false);
  });
});

describe('the address', () => {
  it('of our copy is the one to which the message was first published', () => {
    const delivery = aDelivery({}, ownCopy(restored), 2);
    expect(delivery.exchange).toBe('orders');
    expect(delivery.routingKey).toBe('order.paid');
    expect(delivery.firstFailedAt).toEqual(new Date('2024-05-01T12:00:00.000Z'));
  });

  it('stands in the fields of the message as well, which stays the delivered one', () => {
    const message = ownCopy(restored);
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

  it('of a message that was first published to the default exchange is restored as such', () => {
    const headers = { 'x-settle-exchange': '', 'x-settle-routing-key': QUEUE };
    const delivery = aDelivery({}, ownCopy(headers), 2);
    expect(delivery.exchange).toBe('');
    expect(delivery.routingKey).toBe(QUEUE);
  });

  it('of a message that only carries our headers is its own', () => {
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

  it('is that of the copy for another queue’s name: a server-named queue has a new one', () => {
    const delivery = new DeliveryRecord(aSubscription(), ownCopy(restored), 'amq.gen-2', 1);
    expect(delivery.exchange).toBe('');
    expect(delivery.routingKey).toBe(QUEUE);
  });

  it.each([5, null, ['orders'], undefined])('falls back where a header is %o', (value) => {
    const headers = { 'x-settle-exchange': value, 'x-settle-routing-key': value };
    const delivery = aDelivery({}, ownCopy(headers), 2);
    expect(delivery.exchange).toBe('');
    expect(delivery.routingKey).toBe(QUEUE);
  });
});

describe('firstFailedAt', () => {
  it.each(['', 'yesterday', 5, null, '2024-13-45T00:00:00Z'])('is undefined for %o', (value) => {
    const delivery = aDelivery({}, ownCopy({ 'x-settle-first-failed-at': value }), 2);
    expect(delivery.firstFailedAt).toBeUndefined();
  });
});

describe('the signal', () => {
  it('is one, whoever asks and however often', () => {
    const delivery = aDelivery();
    expect(delivery.signal).toBe(delivery.signal);
    expect(delivery.signal.aborted).toBe(false);
    expect(delivery.abortReason).toBeUndefined();
  });

  it('is not made before somebody asks', () => {
    const made = vi.spyOn(globalThis, 'AbortController');
    try {
      const delivery = aDelivery();
      delivery.abort(new Error('late'));
      expect(made).not.toHaveBeenCalled();
      expect(delivery.abortReason).toEqual(new Error('late'));
    } finally {
      made.mockRestore();
    }
  });

  it('tells those who listen, with the reason', () => {
    const delivery = aDelivery();
    const listener = vi.fn();
    delivery.signal.addEventListener('abort', listener);
    const reason = new Error('why');
    delivery.abort(reason);
    expect(listener).toHaveBeenCalledOnce();
    expect(delivery.signal.reason).toBe(reason);
    expect(delivery.abortReason).toBe(reason);
  });

  it('has aborted already for those who ask later, with the same reason', () => {
    const delivery = aDelivery();
    const reason = new Error('why');
    delivery.abort(reason);
    expect(delivery.signal.aborted).toBe(true);
    expect(delivery.signal.reason).toBe(reason);
  });

  it.each(['before', 'after'])('keeps its first reason, asked for %s the abort', (when) => {
    const delivery = aDelivery();
    if (when === 'before') expect(delivery.signal.aborted).toBe(false);
    const first = new Error('first');
    delivery.abort(first);
    delivery.abort(new Error('second'));
    expect(delivery.signal.reason).toBe(first);
    expect(delivery.abortReason).toBe(first);
  });
});
