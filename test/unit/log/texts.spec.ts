import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { texts } from '../../../lib/log/texts';
import { aDelivery, oddValues } from '../fixtures';

function fail(): never {
  throw new Error('unreadable');
}

describe('texts', () => {
  it('name the class and method, the option, the expected and the found value', () => {
    expect(texts.option('Billing.charge', 'prefetch', 'a whole number', 0)).toBe(
      'Billing.charge: prefetch: expected a whole number; found 0',
    );
  });

  it('name a replacement for each refused option of golevelup', () => {
    const replacements: readonly (readonly [string, string])[] = [
      ['errorHandler', 'onError'],
      ['errorBehavior', "onError: 'drop'"],
      ['batchOptions', 'batch: { size, wait }'],
      ['assertQueueErrorHandler', 'SubscriptionRegistry'],
      ['usePersistentReplyTo', '@RabbitRPC'],
    ];
    for (const [option, replacement] of replacements) {
      const text = texts.unknownOption('Billing.charge', option);
      expect(text).toContain(`Billing.charge: ${option}: `);
      expect(text).toContain(replacement);
      expect(text).not.toContain('no such option');
    }
    expect(texts.unknownOption('Billing.charge', 'prefetsch')).toContain('no such option');
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'name no replacement for an option called %s',
    (option) => {
      expect(texts.unknownOption('Billing.charge', option)).toContain('no such option');
    },
  );

  it.each(oddValues)('show %s without throwing', (_name, make) => {
    const text = texts.option('Billing.charge', 'queue', 'a text', make());
    expect(text).toMatch(/^Billing\.charge: queue: expected a text; found ./);
  });

  it('show a value that cannot be inspected', () => {
    const value = {
      [inspect.custom]: (): never => {
        throw new Error('not to be shown');
      },
    };
    expect(texts.option('Billing.charge', 'queue', 'a text', value)).toContain('found a value');
  });

  it('shorten a huge value to a part of a line', () => {
    const huge = Object.fromEntries(
      Array.from({ length: 500 }, (_, n) => [`key${n}`, 'v'.repeat(99)]),
    );
    for (const value of ['x'.repeat(100_000), huge, [huge], Buffer.alloc(100_000)]) {
      const text = texts.option('Billing.charge', 'queue', 'a text', value);
      expect(text.length).toBeLessThan(250);
      expect(text).not.toContain('\n');
    }
  });

  it.each<[string, unknown]>([
    ['a text of several lines', 'one\ntwo'],
    ['an error with a stack', new Error('why')],
    ['an error whose message has several lines', new Error('one\ntwo')],
    ['an error in an object', { error: new Error('why') }],
    ['a long list', Array.from({ length: 90 }, (_, index) => index)],
    ['a method', { run(): void {} }.run],
  ])('show %s on one line', (_name, value) => {
    expect(texts.unexpectedResult(aDelivery(), value)).not.toContain('\n');
  });

  it.each<[unknown, string]>([
    [{ name: 'secret', constructor: { name: 'secret' } }, 'an object'],
    [Object.assign(new RangeError('secret'), { name: 'secret' }), 'an instance of RangeError'],
    [new Map([['secret', 'secret']]), 'an instance of Map'],
    [['secret'], 'an array of 1'],
    ['secret', 'a string'],
    [Symbol('secret'), 'a symbol'],
    [42, 'a number'],
    [null, 'null'],
    [false, 'false'],
    [new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail }), 'an object'],
  ])('show what a result is, and nothing that is in it: %#', (value, shape) => {
    const text = texts.unexpectedResult(aDelivery(), value);
    expect(text).toContain(`the handler returned ${shape}, which is not an outcome`);
    expect(text).not.toContain('secret');
  });
});
