import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { indented } from '../../../lib/dead-letters/indented-json';

describe('indented JSON', () => {
  it('is what JSON.stringify indents, for any value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(indented(JSON.stringify(value))).toBe(JSON.stringify(value, undefined, 2));
      }),
    );
  });

  it('keeps numbers, escapes and repeated names as they are written', () => {
    const json = '{"id": 12345678901234567890, "id": 1.0, "a\\"b": "\\u00e9\\\\"}';
    const lines = [
      '{',
      '  "id": 12345678901234567890,',
      '  "id": 1.0,',
      '  "a\\"b": "\\u00e9\\\\"',
    ];
    expect(indented(json)).toBe([...lines, '}'].join('\n'));
  });

  it('is not much longer than a deeply nested text, and no line is far to the right', () => {
    const levels = 32 * 1_024;
    const text = indented('['.repeat(levels) + ']'.repeat(levels));
    expect(text.length).toBeLessThan(levels * 2 * 70);
  });

  it('has strings of any length', () => {
    const json = JSON.stringify({ text: '"\\'.repeat(5_000_000) });
    expect(indented(json).length).toBe(json.length + '\n  '.length + ' '.length + '\n'.length);
  });
});
