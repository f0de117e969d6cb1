import { describe, expect, it } from 'vitest';
import {
  counted,
  durationText,
  errorText,
  escaped,
  found,
  idText,
  messageText,
  roughDurationText,
  stackText,
} from '../../../lib/log/format';

describe('durationText', () => {
  it.each([
    [0, '0ms'],
    [1, '1ms'],
    [0.6, '1ms'],
    [999, '999ms'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [90_000, '1m30s'],
    [256_000, '4m16s'],
    [300_000, '5m'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
    [90_061_001, '1d1h1m1.001s'],
    [49 * 86_400_000, '49d'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });
});

describe('roughDurationText', () => {
  it.each([
    [49, '0ms'],
    [251, '300ms'],
    [1_234, '1.2s'],
    [12_345, '12s'],
    [150_499, '2m30s'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(roughDurationText(ms)).toBe(text);
  });
});

describe('errorText', () => {
  class BankTimeout extends Error {}

  it('names the class and the message, each once', () => {
    expect(errorText(new BankTimeout('no answer'))).toBe('BankTimeout: no answer');
    expect(errorText(new Error('no answer'))).toBe('Error: no answer');
    expect(errorText(new BankTimeout())).toBe('BankTimeout');
  });

  it('prefers a name that the class sets', () => {
    const error = Object.assign(new BankTimeout('no answer'), { name: 'Timeout' });
    expect(errorText(error)).toBe('Timeout: no answer');
    expect(errorText(Object.assign(new BankTimeout(), { name: '' }))).toBe('BankTimeout');
  });

  it('keeps a text, inspects any other value, and shortens both to one line', () => {
    expect(errorText('out of\n paper')).toBe('out of paper');
    expect(errorText({ code: 5 })).toBe('{ code: 5 }');
    expect(errorText('x'.repeat(100_000))).toHaveLength(300);
    expect(errorText(new Error('x'.repeat(100_000)))).toHaveLength(300);
  });
});

describe('stackText', () => {
  it('escapes what comes from a message, and indents every line after the first', () => {
    const error = new Error('a\nb\u001b[2J');
    const lines = stackText(error)?.split('\n') ?? [];
    expect(lines[0]).toBe('Error: a\\u000ab\\u001b[2J');
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {4}at /);
  });

  it('leaves no line that looks like one of the log, whoever has written the stack', () => {
    const error = new Error('x');
    error.stack =
      'Error: x\n[Nest] 1  - ERROR [Auth] root\r\u001b[2J\n    at f (a.js:1:1)\nERROR y';
    expect(stackText(error)?.split('\n')).toEqual([
      'Error: x',
      '    [Nest] 1  - ERROR [Auth] root\\u000d\\u001b[2J',
      '    at f (a.js:1:1)',
      '    ERROR y',
    ]);
    error.message = 'changed';
    expect(stackText(error)?.split('\n')[0]).toBe(
      'Error: x\\u000a[Nest] 1  - ERROR [Auth] root\\u000d\\u001b[2J',
    );
  });
});

describe('found', () => {
  it('does not format every property of a large object', () => {
    const wide = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 1]),
    );
    expect(found(wide)).toMatch(/^\{ k0: 1, k1: 1, /);
    expect(found(wide).length).toBeLessThanOrEqual(120);
    expect(found({ a: { b: { c: 1 } } })).toBe('{ a: [Object] }');
  });
});

describe('messageText', () => {
  const facts = { messageId: 'm-1', queue: 'billing', attempt: 2, subscription: {} };

  it('names the message, its queue and its attempt', () => {
    expect(messageText(facts)).toBe('message "m-1" (queue "billing", attempt 2)');
    expect(messageText({ ...facts, subscription: { retry: { attempts: 3 } } })).toBe(
      'message "m-1" (queue "billing", attempt 2 of 3)',
    );
  });

  it('says that there is no messageId, and shortens a long one', () => {
    expect(idText(undefined)).toBe('message without messageId');
    expect(idText('x'.repeat(1_000))).toHaveLength('message ""'.length + 100);
  });
});

describe('counted', () => {
  it.each([
    [0, '0 messages'],
    [1, '1 message'],
    [2, '2 messages'],
  ])('%i: %s', (count, text) => {
    expect(counted(count, 'message')).toBe(text);
  });
});

describe('escaped', () => {
  it('escapes control characters, line separators and changes of direction', () => {
    expect(escaped('a\u0000\n\u001b\u0085\u2028\u202e\u2066z')).toBe(
      'a\\u0000\\u000a\\u001b\\u0085\\u2028\\u202e\\u2066z',
    );
  });

  it('keeps other texts as they are', () => {
    expect(escaped('Größe "€" 🙂')).toBe('Größe "€" 🙂');
  });
});
