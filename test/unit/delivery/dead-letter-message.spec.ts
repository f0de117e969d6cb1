import { BadRequestException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  type Diagnosis,
  deadLetterMessageOf,
  HEADER_BOUNDS,
  type OutgoingMessage,
} from '../../../lib/delivery/republish';
import { aDelivery, aMessage, aRepublishedMessage, HANDLER, oddValues, QUEUE } from '../fixtures';

class CardDeclined extends Error {}

const NOW = Date.parse('2024-05-01T12:00:00.000Z');

function headersOf(diagnosis: Partial<Diagnosis>): OutgoingMessage['headers'] {
  const whole = { reason: 'error', withStack: true, ...diagnosis };
  return deadLetterMessageOf(aDelivery(), whole, NOW).headers;
}

function bytes(value: unknown): number {
  return Buffer.byteLength(value as string);
}

describe('deadLetterMessageOf', () => {
  it('describes the failure in headers', () => {
    const delivery = aDelivery({ retry: { attempts: 5 } }, aMessage(), 1);
    const error = new RangeError('out of money');
    const { headers } = deadLetterMessageOf(
      delivery,
      { reason: 'error', error, withStack: true },
      NOW,
    );
    expect(headers).toEqual({
      'x-settle-reason': 'error',
      'x-settle-error-name': 'RangeError',
      'x-settle-error-message': 'out of money',
      'x-settle-error-stack': error.stack,
      'x-settle-attempts-made': 1,
      'x-settle-first-failed-at': '2024-05-01T12:00:00.000Z',
      'x-settle-failed-at': '2024-05-01T12:00:00.000Z',
      'x-settle-handler': HANDLER,
      'x-settle-queue': QUEUE,
      'x-settle-exchange': 'orders',
      'x-settle-routing-key': 'order.paid',
    });
  });

  it('removes counts, so that a message that is moved back starts at attempt 1', () => {
    const message = aRepublishedMessage({ 'x-settle-attempt': 5, 'x-delivery-count': 2 });
    const { headers } = deadLetterMessageOf(
      aDelivery({}, message, 5),
      { reason: 'attempts', withStack: false },
      NOW,
    );
    expect(headers).not.toHaveProperty('x-settle-attempt');
    expect(headers).not.toHaveProperty('x-delivery-count');
  });

  it.each([
    [1, 3, 1],
    [3, 3, 3],
    // It was delivered beyond the cap, and its handler not called.
    [4, 3, 3],
    [7, undefined, 7],
  ])('on attempt %s of %s reports %s attempts made', (attempt, attempts, made) => {
    const delivery = aDelivery({ ...(attempts && { retry: { attempts } }) }, aMessage(), attempt);
    const { headers } = deadLetterMessageOf(
      delivery,
      { reason: 'attempts', withStack: false },
      NOW,
    );
    expect(headers['x-settle-attempts-made']).toBe(made);
  });

  it('prefers the reason of drop() to the message of an error', () => {
    expect(headersOf({ text: 'no such account' })).toMatchObject({
      'x-settle-error-message': 'no such account',
    });
    const both = headersOf({ text: 'no such account', error: new TypeError('why') });
    expect(both).toMatchObject({
      'x-settle-error-name': 'TypeError',
      'x-settle-error-message': 'no such account',
    });
    expect(headersOf({ text: '', error: new Error('why') })['x-settle-error-message']).toBe('');
  });

  it('has no error headers without an error', () => {
    const names = Object.keys(headersOf({ reason: 'drop' }));
    expect(names.filter((name) => name.startsWith('x-settle-error'))).toEqual([]);
  });

  it('adds the stack only on request', () => {
    expect(headersOf({ error: new Error('why'), withStack: false })).not.toHaveProperty(
      'x-settle-error-stack',
    );
  });

  it('shows a class that sets no name in the stack, too', () => {
    const { 'x-settle-error-stack': stack } = headersOf({ error: new CardDeclined('no\ncover') });
    expect(stack).toMatch(/^CardDeclined: no\ncover\n {4}at /);
  });

  it.each<[string, unknown, string, string]>([
    ['a string', 'out of paper', 'string', 'out of paper'],
    ['a number', 42, 'number', '42'],
    ['null', null, 'object', 'null'],
    ['false', false, 'boolean', 'false'],
    ['a symbol', Symbol('odd'), 'symbol', 'Symbol(odd)'],
    ['an object with name and message', { name: 'Odd', message: 'why' }, 'Odd', 'why'],
    ['an object whose message is not a text', { message: 5 }, 'object', '{ message: 5 }'],
    [
      'an object without a message',
      { code: 'E1', at: {} },
      'object',
      "{ code: 'E1', at: [Object] }",
    ],
    ['a class that sets no name', new CardDeclined('no cover'), 'CardDeclined', 'no cover'],
    [
      'what a ValidationPipe found',
      new BadRequestException(['id must be an integer']),
      'BadRequestException',
      'id must be an integer',
    ],
    ['control characters as they are', new Error('a\n\u001b[31mb'), 'Error', 'a\n\u001b[31mb'],
    ['an object without a prototype', Object.create(null), 'object', '{}'],
  ])('describes %s', (_name, error, name, message) => {
    expect(headersOf({ error })).toMatchObject({
      'x-settle-error-name': name,
      'x-settle-error-message': message,
    });
  });

  it.each(oddValues)('accepts %s as an error and writes only texts and numbers', (_name, make) => {
    for (const value of Object.values(headersOf({ error: make() }))) {
      expect(['string', 'number']).toContain(typeof value);
    }
  });
});

describe('the limits of error headers', () => {
  it('are 128, 1 024 and 4 096 bytes', () => {
    expect(HEADER_BOUNDS).toEqual({ name: 128, message: 1_024, stack: 4_096 });
  });

  it.each([
    ['one byte', 'x'],
    ['two bytes', 'ü'],
    ['three bytes', '漢'],
    ['four bytes', '😀'],
  ])('never split characters of %s', (_name, character) => {
    const error = new Error(character.repeat(3_000));
    error.name = character.repeat(3_000);
    error.stack = character.repeat(3_000);
    const headers = headersOf({ error });
    const size = Buffer.byteLength(character);
    const whole = (bound: number): string => character.repeat(Math.floor(bound / size));
    expect(headers['x-settle-error-name']).toBe(whole(128));
    expect(headers['x-settle-error-message']).toBe(whole(1_024));
    expect(headers['x-settle-error-stack']).toBe(whole(Math.min(4_096, size * 3_000)));
  });

  it('apply to the reason of drop()', () => {
    expect(bytes(headersOf({ text: 'ü'.repeat(3_000) })['x-settle-error-message'])).toBe(1_024);
  });
});
