import { describe, expect, it } from 'vitest';
import {
  type Diagnosis,
  deadLetterMessageOf,
  HEADER_BOUNDS,
  type OutgoingMessage,
} from '../../../lib/delivery/republish';
import { aDelivery, aMessage, HANDLER, oddValues, ownCopy, QUEUE } from '../fixtures';

const NOW = Date.parse('2024-05-01T12:00:00.000Z');

function diagnosed(diagnosis: Partial<Diagnosis>): OutgoingMessage['headers'] {
  const whole = { reason: 'error', withStack: true, ...diagnosis };
  return deadLetterMessageOf(aDelivery(), whole, NOW).headers;
}

function bytes(value: unknown): number {
  return Buffer.byteLength(value as string);
}

describe('a dead letter', () => {
  it('tells how the message ended', () => {
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

  it('carries no count, so that a message put back by hand starts at attempt 1', () => {
    const message = ownCopy({ 'x-settle-attempt': 5, 'x-delivery-count': 2 });
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
    // It came in beyond the cap and was not handed over again.
    [4, 3, 3],
    [7, undefined, 7],
  ])('at attempt %s of %s tells that %s were made', (attempt, attempts, made) => {
    const delivery = aDelivery({ ...(attempts && { retry: { attempts } }) }, aMessage(), attempt);
    const { headers } = deadLetterMessageOf(
      delivery,
      { reason: 'attempts', withStack: false },
      NOW,
    );
    expect(headers['x-settle-attempts-made']).toBe(made);
  });

  it('has the text given to drop() in the place of a message, also beside an error', () => {
    expect(diagnosed({ text: 'no such account' })).toMatchObject({
      'x-settle-error-message': 'no such account',
    });
    const both = diagnosed({ text: 'no such account', error: new TypeError('why') });
    expect(both).toMatchObject({
      'x-settle-error-name': 'TypeError',
      'x-settle-error-message': 'no such account',
    });
    expect(diagnosed({ text: '', error: new Error('why') })['x-settle-error-message']).toBe('');
  });

  it('describes no error where there was none', () => {
    const names = Object.keys(diagnosed({ reason: 'drop' }));
    expect(names.filter((name) => name.startsWith('x-settle-error'))).toEqual([]);
  });

  it('has the stack only where it is asked for', () => {
    expect(diagnosed({ error: new Error('why'), withStack: false })).not.toHaveProperty(
      'x-settle-error-stack',
    );
  });

  it.each<[string, unknown, string, string]>([
    ['a string', 'out of paper', 'string', 'out of paper'],
    ['a number', 42, 'number', '42'],
    ['null', null, 'object', 'null'],
    ['false', false, 'boolean', 'false'],
    ['a symbol', Symbol('odd'), 'symbol', 'Symbol(odd)'],
    ['an object with name and message', { name: 'Odd', message: 'why' }, 'Odd', 'why'],
    ['an object whose message is no text', { message: 5 }, 'object', '[object Object]'],
    ['an object without a text', Object.create(null), 'object', 'a value without a text'],
  ])('describes %s', (_name, error, name, message) => {
    expect(diagnosed({ error })).toMatchObject({
      'x-settle-error-name': name,
      'x-settle-error-message': message,
    });
  });

  it.each(oddValues)('is made of %s, and its headers are texts and numbers', (_name, make) => {
    for (const value of Object.values(diagnosed({ error: make() }))) {
      expect(['string', 'number']).toContain(typeof value);
    }
  });
});

describe('the bounds of a dead letter’s texts', () => {
  it('are 128, 1 024 and 4 096 bytes', () => {
    expect(HEADER_BOUNDS).toEqual({ name: 128, message: 1_024, stack: 4_096 });
  });

  it.each([
    ['one byte', 'x'],
    ['two bytes', 'ü'],
    ['three bytes', '漢'],
    ['four bytes', '😀'],
  ])('hold for characters of %s, and no character is cut', (_name, character) => {
    const error = new Error(character.repeat(3_000));
    error.name = character.repeat(3_000);
    error.stack = character.repeat(3_000);
    const headers = diagnosed({ error });
    const size = Buffer.byteLength(character);
    const whole = (bound: number): string => character.repeat(Math.floor(bound / size));
    expect(headers['x-settle-error-name']).toBe(whole(128));
    expect(headers['x-settle-error-message']).toBe(whole(1_024));
    expect(headers['x-settle-error-stack']).toBe(whole(Math.min(4_096, size * 3_000)));
  });

  it('hold for the text given to drop()', () => {
    expect(bytes(diagnosed({ text: 'ü'.repeat(3_000) })['x-settle-error-message'])).toBe(1_024);
  });
});
