import { decodeFields, encodeTable } from 'amqplib/lib/codec';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bytesOfSimpleTable,
  bytesOfTable,
  decodedTable,
  type EncodableHeader,
  encodableHeader,
  hasDecimal,
} from '../../../lib/amqp/header-table';
import { oddValues } from '../fixtures';

function encodable(headers: Readonly<Record<string, unknown>>): EncodableHeader[] {
  return Object.entries(headers).map(([name, value]) => {
    const header = encodableHeader(name, value);
    if (header === undefined) throw new Error(`"${name}" is not encodable`);
    return header;
  });
}

/** The bytes that amqplib makes of a table. */
function encoded(headers: readonly EncodableHeader[]): Buffer {
  const table = Object.assign(
    Object.create(null),
    ...headers.map(({ name, value }) => ({ [name]: value })),
  );
  const buffer = Buffer.alloc(1 << 20);
  return buffer.subarray(0, encodeTable(buffer, table, 0));
}

const timestamp = { '!': 'timestamp', value: 1_700_000_000 };
const decimal = { '!': 'decimal', value: { places: 2, digits: 314 } };
const values: [what: string, value: unknown][] = [
  ['an empty text', ''],
  ['a text', 'grün\u0000'],
  ['a lone surrogate', '\ud800'],
  ['true', true],
  ['null', null],
  ['bytes', Buffer.from([0, 255])],
  ...[0, -1, 127, 128, -128, -129, 32_767, 32_768, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 53].map(
    (value): [string, unknown] => [`${value}`, value],
  ),
  ['a fraction', 1.5],
  ['more than 64 bits', 2 ** 63],
  ['a timestamp', timestamp],
  ['a decimal', decimal],
  ['a list', [1, 'two', [3.5], { four: 4 }]],
  ['a table', { one: 1, two: { three: 'x' } }],
  ['a table with the key !', { '!': 'int8', value: 5, more: 1 }],
  ['a table like an unknown type', { '!': 'int8', value: 5 }],
  ['an empty table', {}],
];

describe('encodableHeader', () => {
  it.each(values)('keeps %s, and knows its size', (_what, value) => {
    const headers = encodable({ header: value, other: 1 });
    const bytes = encoded(headers);
    expect(bytesOfTable(headers)).toBe(bytes.length);
    const decoded = decodeFields(bytes.subarray(4));
    // A lone surrogate is no text in UTF-8.
    const expected = value === '\ud800' ? '\uFFFD' : value;
    expect(decoded).toEqual({ header: expected, other: 1 });
    expect({
      ...decodedTable(Object.fromEntries(headers.map((one) => [one.name, one.value]))),
    }).toEqual({ header: value, other: 1 });
  });

  it('knows the size of any table that amqplib can encode, and keeps what is in it', () => {
    const names = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      .filter((name) => name !== '__proto__');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.string({ unit: 'grapheme' }),
        fc.boolean(),
        fc.constant(null),
        fc.integer({ min: -(2 ** 53), max: 2 ** 53 }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constant(timestamp),
        fc.constant(decimal),
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 5 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(names, tree), (headers) => {
        const table = encodable(headers);
        const bytes = encoded(table);
        expect(bytesOfTable(table)).toBe(bytes.length);
        const again = encodable(decodeFields(bytes.subarray(4)));
        expect(encoded(again).equals(bytes)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('never underestimates a simple table, and finds none simple that has to be changed', () => {
    const names = fc.string({ unit: 'grapheme', maxLength: 90 });
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.boolean(),
      fc.integer({ min: -(2 ** 33), max: 2 ** 33 }),
      fc.constantFrom(undefined, null, 1.5, Number.NaN, timestamp, [1], { a: 1 }),
    );
    fc.assert(
      fc.property(fc.dictionary(names, value, { noNullPrototype: false }), (headers) => {
        const bytes = bytesOfSimpleTable(headers);
        if (bytes === undefined) return;
        const table = encodable(headers);
        expect(table.map((one) => one.value)).toEqual(Object.values(headers));
        expect(bytes).toBeGreaterThanOrEqual(encoded(table).length);
        expect(bytes).toBeLessThanOrEqual(encoded(table).length + 3 * table.length);
      }),
      { numRuns: 500 },
    );
    expect(bytesOfSimpleTable({ a: 'text', b: true, c: 1 })).toBeDefined();
    expect(bytesOfSimpleTable({ ['n'.repeat(256)]: 1 })).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['NaN in a table', { deep: [Number.NaN] }],
    ['a bigint', 10n],
    ['a function', () => undefined],
    ['a symbol', Symbol('odd')],
    ['a function in a list', [() => undefined]],
    ['a name of more than 255 bytes in a table', { ['ü'.repeat(128)]: 1 }],
  ])('finds that a table cannot hold %s', (_what, value) => {
    expect(encodableHeader('header', value)).toBeUndefined();
  });

  it('finds that a table cannot hold a name of more than 255 bytes', () => {
    expect(encodableHeader('ü'.repeat(127), 1)).toBeDefined();
    expect(encodableHeader('ü'.repeat(128), 1)).toBeUndefined();
  });

  it('finds that a table cannot hold itself', () => {
    const endless: Record<string, unknown> = {};
    endless['itself'] = endless;
    expect(encodableHeader('header', endless)).toBeUndefined();
  });

  it.each(oddValues)('never throws: %s', (_name, value) => {
    expect(() => encodableHeader('header', { odd: value() })).not.toThrow();
    expect(() => encodableHeader('header', value())).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['a text for a time', { '!': 'timestamp', value: 'now' }],
    ['a negative time', { '!': 'timestamp', value: -1 }],
    ['a decimal with too many places', { '!': 'decimal', value: { places: 256, digits: 1 } }],
    ['a decimal without digits', { '!': 'decimal', value: { places: 1 } }],
  ])('takes %s for a table of its own', (_what, value) => {
    const headers = encodable({ header: value });
    expect(decodeFields(encoded(headers).subarray(4))).toEqual({ header: value });
  });
});

describe('hasDecimal', () => {
  it.each<[unknown, boolean]>([
    [decimal, true],
    [[1, decimal], true],
    [{ deep: { deeper: [decimal] } }, true],
    [timestamp, false],
    [{ deep: 1.5 }, false],
    [Buffer.from('x'), false],
    ['decimal', false],
  ])('%j: %s', (value, expected) => {
    expect(encodable({ header: value }).some(hasDecimal)).toBe(expected);
  });
});
