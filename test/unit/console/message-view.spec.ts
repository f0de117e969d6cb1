import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hexDump, messageViewOf } from '../../../lib/console/message-view';
import type { DeadLetterDetails } from '../../../lib/dead-letters/dead-letter';

function details(parts: Partial<DeadLetterDetails> = {}): DeadLetterDetails {
  return {
    ...{ id: 'a', position: 1, reason: 'error', by: 'client', replays: 0, deliveryCount: 0 },
    ...{ size: 2, body: Buffer.from('{}'), isTruncated: false },
    ...{ headers: {}, properties: {}, history: [] },
    ...parts,
  };
}

const bodyOf = (body: string | Buffer, isTruncated = false) =>
  messageViewOf(details({ body: Buffer.from(body as string), isTruncated }), true).body;

describe('the view of a message', () => {
  it('has neither body nor headers of the application unless payloads are shown', () => {
    const own = { 'x-settle-reason': 'error', 'x-settle-queue': 'billing' };
    const broker = { 'x-death': [], 'x-first-death-queue': 'billing', 'x-last-death-reason': 'x' };
    const counts = { 'x-delivery-count': 1, 'x-acquired-count': 1 };
    const foreign = { customer: 'ada', 'x-customer': 'ada', 'x-deaths': 'ada', 'X-Settle-': 'ada' };
    const letter = details({
      body: Buffer.from('secret'),
      headers: { ...own, ...broker, ...counts, ...foreign },
      properties: { messageId: 'm-1', userId: undefined },
    });
    const hidden = messageViewOf(letter, false);
    expect(JSON.stringify(hidden)).not.toMatch(/secret|customer|ada/i);
    expect(hidden.body).toBeUndefined();
    expect(hidden.hiddenHeaders).toBe(4);
    const names = hidden.headers.map(([name]) => name);
    expect(names).toEqual(Object.keys({ ...own, ...broker, ...counts }));
    expect(hidden.properties).toEqual([['messageId', 'm-1']]);
    const shown = messageViewOf(letter, true);
    expect(shown.hiddenHeaders).toBe(0);
    expect(shown.headers).toHaveLength(11);
    expect(shown.body).toEqual({ kind: 'text', text: 'secret', isTruncated: false });
  });

  it.each([
    ['{"id":12345678901234567890}', 'json', '{\n  "id": 12345678901234567890\n}'],
    ['  [1,{}]', 'json', '[\n  1,\n  {}\n]'],
    ['"text"', 'json', '"text"'],
    ['<b>grün</b>', 'text', '<b>grün</b>'],
    ['{"a":', 'text', '{"a":'],
    ['', 'empty', ''],
  ])('of the body %s is %s', (body, kind, text) => {
    expect(bodyOf(body)).toEqual({ kind, text, isTruncated: false });
  });

  it.each([
    ['a byte that is not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), '7b ff 7d', '{.}'],
    ['a control character', Buffer.from('a\u0000<'), '61 00 3c', 'a.<'],
    ['a character that ends early', Buffer.from('grün').subarray(0, 3), '67 72 c3', 'gr.'],
  ])('shows %s as hexadecimal numbers', (_which, body, hex, printable) => {
    const text = `000000  ${hex}${' '.repeat(47 - hex.length)}  ${printable}`;
    expect(bodyOf(body)).toEqual({ kind: 'binary', text, isTruncated: false });
  });

  it('takes the beginning of a text for text, also if its last character was cut', () => {
    const cut = Buffer.from('{"name": "grün').subarray(0, 13);
    expect(bodyOf(cut, true)).toEqual({ kind: 'text', text: '{"name": "gr', isTruncated: true });
  });

  it('has texts only, which are escaped by no more than JSON, for any headers', () => {
    const value = fc.oneof(
      fc.anything({ withBigInt: false, maxDepth: 3 }),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), value), (headers) => {
        const view = messageViewOf(details({ headers, properties: headers }), true);
        for (const [name, text] of [...view.headers, ...view.properties]) {
          expect([typeof name, typeof text]).toEqual(['string', 'string']);
        }
        expect(() => JSON.stringify(view)).not.toThrow();
      }),
    );
    const evil = '<img src=x onerror="alert(1)">\u202e\u0007';
    const { headers } = messageViewOf(details({ headers: { [evil]: evil } }), true);
    expect(headers).toEqual([[evil, evil]]);
  });

  it('shows bytes in headers as hexadecimal numbers and tables with indentation', () => {
    const headers = {
      key: Buffer.from([0, 255]),
      table: { bytes: Buffer.from('a'), number: 1.5, none: null },
      ...{ at: { '!': 'timestamp', value: 1 }, not: Number.NaN, no: null },
    };
    expect(messageViewOf(details({ headers }), true).headers).toEqual([
      ['key', '"0x00ff"'],
      ['table', '{\n  "bytes": "0x61",\n  "number": 1.5,\n  "none": null\n}'],
      ['at', '{\n  "!": "timestamp",\n  "value": 1\n}'],
      ['not', 'NaN'],
      ['no', 'null'],
    ]);
  });

  it('stays small for tables in tables', () => {
    let table: object = {};
    for (let level = 0; level < 20_000; level += 1) table = { a: table };
    const [header] = messageViewOf(details({ headers: { table } }), true).headers;
    expect(header?.[1].length).toBeLessThan(20_000 * 100);
  });

  it('is at most five times as large as a binary body', () => {
    const dump = hexDump(Buffer.alloc(65_536, 0xff));
    expect(dump.split('\n')).toHaveLength(4_096);
    expect(dump.length).toBeLessThan(65_536 * 5);
  });
});
