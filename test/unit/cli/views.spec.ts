import { describe, expect, it } from 'vitest';
import { jsonOf } from '../../../lib/cli/json';
import { hasColours, styleOf } from '../../../lib/cli/style';
import { tableOf } from '../../../lib/cli/table';
import { letterView } from '../../../lib/cli/views/letter-view';
import { bodyText } from '../../../lib/dead-letters/body-text';
import type { DeadLetterDetails } from '../../../lib/dead-letters/dead-letter';
import { testHost } from '../../support/cli-host';

const plain = styleOf(testHost());

describe('colours', () => {
  it.each([
    [{}, true, true],
    [{}, false, false],
    [{ NO_COLOR: '1' }, true, false],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true, false],
    [{ FORCE_COLOR: '1' }, false, true],
    [{ FORCE_COLOR: '0' }, true, false],
    [{ TERM: 'dumb' }, true, false],
  ])('with %o, in a terminal: %s, are used: %s', (env, isTerminal, expected) => {
    expect(hasColours({ env }, isTerminal)).toBe(expected);
  });
});

describe('tables', () => {
  const heads = [{ heading: 'NAME' }, { heading: 'COUNT', isNumber: true }];

  it('align texts at the left and numbers at the right', () => {
    const rows = [
      ['a', '1'],
      ['longer', '1000000'],
    ];
    expect(tableOf(heads, rows, plain, 80)).toBe(
      'NAME      COUNT\na             1\nlonger  1000000\n',
    );
  });

  it('escape control characters of foreign texts and are no wider than the terminal', () => {
    const table = tableOf(heads, [['\u001b[31mred\nline', '1']], plain, 20);
    expect(table).not.toContain('\u001b');
    for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(20);
    expect(table.trim().split('\n')).toHaveLength(2);
  });
});

describe('bodyText', () => {
  it.each([
    ['{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'],
    ['plain text', 'plain text'],
    ['{"a":', '{"a":'],
    ['', ''],
  ])('of %s', (body, expected) => {
    expect(bodyText(Buffer.from(body))).toBe(expected);
  });

  it('shows bytes in lines of sixteen', () => {
    const [first, second] = bodyText(Buffer.from([0xff, ...Buffer.from('abcdefghijklmnop')])).split(
      '\n',
    );
    expect(first).toBe('0000  ff 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f  .abcdefghijklmno');
    expect(second).toMatch(/^0010 {2}70 +p$/);
  });

  it('leaves out a character that is cut at the end', () => {
    expect(bodyText(Buffer.from('grün').subarray(0, 3))).toBe('gr');
  });
});

describe('the view of a message', () => {
  it('escapes whatever comes from the message', () => {
    const evil = '\u001b]0;title\u0007\nfake line';
    const letter: DeadLetterDetails = {
      ...{ id: 'a', position: 1, messageId: evil, reason: evil, by: 'client', replays: 0 },
      ...{ errorName: evil, errorMessage: evil, handler: evil, deliveryCount: 0, size: 1 },
      origin: { queue: evil, exchange: evil, routingKey: evil },
      ...{ body: Buffer.from(evil), isTruncated: true },
      headers: { [evil]: evil },
      properties: { type: evil },
      history: [{ kind: 'failed', queue: evil, reason: evil, count: 1 }],
    };
    const text = letterView(letter, plain);
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u0007');
    const starting = text.split('\n').filter((line) => line.startsWith('fake'));
    expect(starting).toEqual([]);
  });
});

describe('JSON', () => {
  it('has dates as texts and bytes in base64', () => {
    const value = {
      ...{ at: new Date(0), body: Buffer.from('a'), list: [new Error('x')], none: undefined },
    };
    expect(JSON.parse(jsonOf(value))).toEqual({
      ...{ at: '1970-01-01T00:00:00.000Z', body: 'YQ==', list: ['Error: x'] },
    });
  });
});
