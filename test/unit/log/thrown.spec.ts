import { runInNewContext } from 'node:vm';
import { BadRequestException, ForbiddenException, HttpException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { textOf, thrownMessage, thrownName, thrownStack } from '../../../lib/log/thrown';
import { oddValues } from '../fixtures';

class CardDeclined extends Error {}
class OwnTypeError extends TypeError {}
class Named extends Error {
  override readonly name = 'CardError';
}
class Refusal {
  constructor(readonly why: string) {}
}

describe('thrownName', () => {
  it.each<[string, unknown, string]>([
    ['an error class that sets no name', new CardDeclined('x'), 'CardDeclined'],
    ['a subclass of another built-in class', new OwnTypeError('x'), 'OwnTypeError'],
    ['a class that sets its name', new Named('x'), 'CardError'],
    [
      'an error whose name is set',
      Object.assign(new CardDeclined(), { name: 'TypeError' }),
      'TypeError',
    ],
    [
      'an error whose name is empty',
      Object.assign(new CardDeclined(), { name: '' }),
      'CardDeclined',
    ],
    ['a built-in error', new RangeError('x'), 'RangeError'],
    ['a DOMException', new DOMException('x', 'AbortError'), 'AbortError'],
    ['an HttpException', new ForbiddenException(), 'ForbiddenException'],
    ['an error of another realm', runInNewContext('new TypeError("x")'), 'TypeError'],
    ['a class that is not an error', new Refusal('x'), 'Refusal'],
    ['an object', { code: 5 }, 'object'],
    ['an object with a name', { name: 'Odd' }, 'Odd'],
    ['a list', ['x'], 'Array'],
    ['a text', 'x', 'string'],
  ])('is the class of %s', (_what, thrown, name) => {
    expect(thrownName(thrown)).toBe(name);
  });

  it.each(oddValues)('does not throw for %s', (_name, make) => {
    expect(typeof thrownName(make())).toBe('string');
  });
});

describe('thrownMessage', () => {
  const violations = [
    { property: 'id', constraints: { isInt: 'id must be an integer', min: 'id must be positive' } },
    { property: 'card', children: [{ property: 'no', constraints: { isText: 'no is missing' } }] },
    { property: 'rest', children: [] },
  ];

  it.each<[string, unknown, string]>([
    ['an error', new CardDeclined('no\ncover'), 'no\ncover'],
    ['an error without a message', new CardDeclined(), ''],
    [
      'a list of messages',
      new BadRequestException(['id must be an integer', 'no name']),
      'id must be an integer; no name',
    ],
    [
      'what a ValidationPipe throws',
      new BadRequestException({ message: ['a', 'b'], error: 'Bad Request' }),
      'a; b',
    ],
    [
      'validation errors',
      new BadRequestException(violations),
      'id must be an integer; id must be positive; card: no is missing; rest: invalid',
    ],
    ['an exception with a text', new BadRequestException('no name'), 'no name'],
    ['an exception without anything', new ForbiddenException(), 'Forbidden'],
    [
      'an exception with properties',
      new HttpException({ code: 'E1', at: { x: 1 } }, 400),
      "Http Exception { code: 'E1', at: [Object] }",
    ],
    [
      'what an RpcException carries',
      Object.assign(new Error('Rpc Exception'), { getError: () => ['a', 'b'] }),
      'a; b',
    ],
    [
      'an error whose message is a list',
      Object.assign(new Error(), { message: ['a', 'b'] }),
      'a; b',
    ],
    [
      'an object',
      { statusCode: 409, reason: 'taken', retry: false },
      "{ statusCode: 409, reason: 'taken', retry: false }",
    ],
    ['an object with a message', { message: 'why', secret: 'x' }, 'why'],
    ['an object with a list of messages', { message: ['a', 'b'] }, 'a; b'],
    ['an empty object', {}, '{}'],
    ['an object without a prototype', Object.create(null), '{}'],
    ['a class that is not an error', new Refusal('late'), "{ why: 'late' }"],
    ['an object with a text of its own', { toString: () => 'as I say' }, 'as I say'],
    ['a list', ['a', { b: 1 }], 'a; { b: 1 }'],
    ['bytes', Buffer.alloc(5), '[Buffer]'],
    ['a function', () => 'x', '[Function]'],
    ['a text', 'out of\npaper', 'out of\npaper'],
    ['undefined', undefined, 'undefined'],
    ['a symbol', Symbol('odd'), 'Symbol(odd)'],
  ])('is that of %s', (_what, thrown, message) => {
    expect(thrownMessage(thrown)).toBe(message);
  });

  it('shows nothing that is nested, inherited or not enumerable', () => {
    const thrown = Object.create(
      { inherited: 'secret' },
      { hidden: { value: 'secret', enumerable: false } },
    );
    Object.assign(thrown, { config: { headers: { authorization: 'secret' } }, tokens: ['secret'] });
    expect(thrownMessage(thrown)).toBe('{ config: [Object], tokens: [Array] }');
  });

  it('is bounded, whatever is thrown', () => {
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1]));
    const cases: unknown[] = [
      'x'.repeat(1_000_000),
      new Error('x'.repeat(1_000_000)),
      Array.from({ length: 100_000 }, () => 'x'.repeat(100)),
      new BadRequestException(Array.from({ length: 100_000 }, () => 'x'.repeat(100))),
      wide,
      { text: 'x'.repeat(1_000_000) },
      { ['k'.repeat(1_000_000)]: 1 },
    ];
    for (const thrown of cases) expect(thrownMessage(thrown).length).toBeLessThanOrEqual(4_096);
    expect(thrownMessage(wide)).toMatch(/^\{ k0: 1, .*, k9: 1, \.\.\. \}$/);
    expect(thrownMessage(Array.from({ length: 12 }, () => 'x'))).toMatch(/; and 2 more$/);
  });

  it.each(oddValues)('does not throw for %s', (_name, make) => {
    expect(typeof thrownMessage(make())).toBe('string');
  });
});

describe('thrownStack', () => {
  it('has the class and the message as its header, and the frames', () => {
    const error = new CardDeclined('no\ncover');
    const stack = thrownStack(error);
    expect(stack?.header).toBe('CardDeclined: no\ncover');
    expect(stack?.frames).toMatch(/^\n {4}at .*thrown\.spec/);
    const plain = new Error('x');
    const { header, frames } = thrownStack(plain) ?? {};
    expect(`${header}${frames}`).toBe(plain.stack);
  });

  it('keeps the frames of an error whose message is long or has changed', () => {
    const long = thrownStack(new Error('x'.repeat(1_000_000)));
    expect(long?.header).toHaveLength(4_096);
    expect(long?.frames).toMatch(/^\n {4}at .*thrown\.spec/);
    const changed = new Error('before');
    expect(changed.stack).toContain('before'); // V8 writes it when it is first read.
    changed.message = 'after';
    expect(thrownStack(changed)?.header).toBe('Error: before');
    expect(thrownStack(changed)?.frames).toMatch(/^\n {4}at .*thrown\.spec/);
  });

  it('is whole for an error without name and message', () => {
    const error = Object.assign(new Error(), { name: '' });
    const { header, frames } = thrownStack(error) ?? {};
    expect(`${header}${frames}`).toBe(error.stack);
    expect(frames).toMatch(/^\n {4}at .*thrown\.spec/);
  });

  it('is absent for what has none', () => {
    for (const thrown of ['x', { stack: 'x' }, Object.assign(new Error(), { stack: '' })]) {
      expect(thrownStack(thrown)).toBeUndefined();
    }
  });

  it.each(oddValues)('does not throw for %s', (_name, make) => {
    expect(() => thrownStack(make())).not.toThrow();
  });
});

describe('textOf', () => {
  it('is the property of whatever was thrown, if it is a text', () => {
    expect(textOf(new TypeError('why'), 'name')).toBe('TypeError');
    expect(textOf('text', 'length')).toBeUndefined();
    expect(textOf({ name: 5 }, 'name')).toBeUndefined();
    expect(textOf({ name: 'x'.repeat(10_000) }, 'name', 5)).toBe('xxxxx');
  });

  it.each(oddValues)('reads %s without throwing', (_name, make) => {
    for (const name of ['name', 'message', 'stack']) {
      expect(['string', 'undefined']).toContain(typeof textOf(make(), name));
    }
  });
});
