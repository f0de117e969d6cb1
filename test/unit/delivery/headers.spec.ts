import { describe, expect, it } from 'vitest';
import {
  headerOf,
  isDroppedOnRepublish,
  SettleHeaders,
  textHeaderOf,
} from '../../../lib/delivery/headers';

describe('SettleHeaders', () => {
  it('never changes, since stored messages carry these names', () => {
    expect(SettleHeaders).toEqual({
      attempt: 'x-settle-attempt',
      lostConsumer: 'x-settle-lost-consumer',
      queue: 'x-settle-queue',
      exchange: 'x-settle-exchange',
      routingKey: 'x-settle-routing-key',
      publishId: 'x-settle-copy',
      reason: 'x-settle-reason',
      errorName: 'x-settle-error-name',
      errorMessage: 'x-settle-error-message',
      errorStack: 'x-settle-error-stack',
      attemptsMade: 'x-settle-attempts-made',
      firstFailedAt: 'x-settle-first-failed-at',
      failedAt: 'x-settle-failed-at',
      handler: 'x-settle-handler',
      trace: 'x-settle-trace',
      replays: 'x-settle-replays',
      replayedAt: 'x-settle-replayed-at',
      originQueue: 'x-settle-origin-queue',
      originExchange: 'x-settle-origin-exchange',
      originRoutingKey: 'x-settle-origin-routing-key',
    });
    expect(Object.isFrozen(SettleHeaders)).toBe(true);
  });
});

describe('headerOf', () => {
  it('reads own headers of any type', () => {
    expect(headerOf({ a: null }, 'a')).toBeNull();
    expect(headerOf({ a: 0 }, 'a')).toBe(0);
    expect(headerOf(Object.assign(Object.create(null), { a: 1 }), 'a')).toBe(1);
  });

  it('ignores inherited properties and accepts names of methods', () => {
    expect(headerOf(Object.create({ a: 1 }), 'a')).toBeUndefined();
    expect(headerOf({}, 'toString')).toBeUndefined();
    expect(headerOf({}, '__proto__')).toBeUndefined();
    expect(headerOf({ hasOwnProperty: 5, a: 1 }, 'a')).toBe(1);
    expect(headerOf(JSON.parse('{"__proto__": 7}'), '__proto__')).toBe(7);
  });

  it.each([undefined, null])('is undefined if the headers are %s', (headers) => {
    expect(headerOf(headers, 'a')).toBeUndefined();
    expect(textHeaderOf(headers, 'a')).toBeUndefined();
  });
});

describe('textHeaderOf', () => {
  it('reads only texts, including the empty one', () => {
    expect(textHeaderOf({ a: 'x' }, 'a')).toBe('x');
    expect(textHeaderOf({ a: '' }, 'a')).toBe('');
    for (const a of [5, null, ['x'], {}, Buffer.from('x')]) {
      expect(textHeaderOf({ a }, 'a')).toBeUndefined();
    }
  });
});

describe('isDroppedOnRepublish', () => {
  it.each([
    'CC',
    'BCC',
    'x-death',
    'x-first-death-queue',
    'x-first-death-reason',
    'x-last-death-exchange',
    'x-delivery-count',
    'x-acquired-count',
    'x-settle-attempt',
    'x-settle-anything',
    ...Object.values(SettleHeaders).filter((name) => !name.startsWith('x-settle-replay')),
  ])('drops %s', (name) => {
    expect(isDroppedOnRepublish(name)).toBe(true);
  });

  it.each([
    SettleHeaders.replays,
    SettleHeaders.replayedAt,
    'cc',
    'x-deaths',
    'x-settle',
    'X-Settle-Attempt',
    'my-x-settle-attempt',
    'x-retry',
    'x-delay',
    'traceparent',
    '__proto__',
    'constructor',
    '',
  ])('keeps %s', (name) => {
    expect(isDroppedOnRepublish(name)).toBe(false);
  });
});
