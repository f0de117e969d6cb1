import { describe, expect, it } from 'vitest';
import { isOlder } from '../../../../bench/poison-cases.mjs';
import { chartOf } from '../../../../bench/report/chart.mjs';
import { cellTable, intervalText, markdownTable } from '../../../../bench/report/tables.mjs';

describe('a Markdown table', () => {
  it('aligns text to the left and numbers to the right', () => {
    expect(
      markdownTable(
        ['', 'a second'],
        [
          ['one', '1'],
          ['the other', '1000'],
        ],
      ).split('\n'),
    ).toEqual([
      '|           | a second |',
      '| --------- | -------: |',
      '| one       |        1 |',
      '| the other |     1000 |',
    ]);
  });
});

describe('an interval', () => {
  it('is shown with its ends, if it has any', () => {
    expect(intervalText({ middle: 1.5, low: 1.4, high: 1.6 })).toBe('1.50 [1.40, 1.60]');
    expect(intervalText({ middle: 1.5, low: 1.5, high: 1.5 })).toBe('1.50');
  });
});

describe('the table of a cell', () => {
  const run = (perSecond: number) => ({
    perSecond,
    cpu: 10,
    peakBytes: 2 ** 20,
    idleBytes: 2 ** 20,
    loopDelayMs: 1,
  });

  it('compares each program with its counterpart', () => {
    const groups = [['settle-plain', 'settle-pipe', 'golevelup-pipe', 'golevelup']] as const;
    const lines = cellTable({
      cell: {
        name: 'pipes',
        groups,
        queueType: 'classic',
        prefetch: 1,
        bytes: 250,
        messages: 1,
        handler: 'empty',
      },
      groups: [
        {
          'settle-plain': [run(400)],
          'settle-pipe': [run(300)],
          'golevelup-pipe': [run(100)],
          golevelup: [run(200)],
        },
      ],
    }).split('\n');
    const ratioOf = (name: string) =>
      lines
        .find((line) => line.startsWith(`| ${name} `))
        ?.split('|')
        .at(-2)
        ?.trim();
    expect(ratioOf('golevelup, ValidationPipe')).toBe('3.00');
    expect(ratioOf('golevelup')).toBe('2.00');
    expect(ratioOf('nestjs-settle, plain')).toBe('');
  });
});

describe('the chart', () => {
  const svg = chartOf(
    [
      {
        title: 'a < b',
        bars: [
          { name: 'first', value: 2000, own: true },
          { name: 'second', value: 1000, own: false },
        ],
      },
    ],
    'measured & drawn',
  );

  it('draws bars in proportion', () => {
    const widths = [...svg.matchAll(/<rect class="(\w+)".*? width="([\d.]+)"/g)];
    expect(widths.map(([, kind]) => kind)).toEqual(['own', 'bar']);
    const [long, short] = widths.map(([, , width]) => Number(width));
    expect(long).toBe(Number(short) * 2);
  });

  it('escapes its texts', () => {
    expect(svg).toContain('a &lt; b');
    expect(svg).toContain('measured &amp; drawn');
  });

  it('has colours for dark pages', () => {
    expect(svg).toContain('prefers-color-scheme: dark');
  });
});

describe('an older release', () => {
  it.each([
    ['4.0.5', '4.3', true],
    ['3.10.8', '4.3', true],
    ['4.3.6', '4.3', false],
    ['4.10.0', '4.3', false],
    ['5.0.0', '4.3', false],
    ['4.0.5', undefined, false],
    [undefined, '4.3', false],
  ])('%s against %s: %s', (version, release, expected) => {
    expect(isOlder(version, release)).toBe(expected);
  });
});
