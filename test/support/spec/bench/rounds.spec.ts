import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../../bench/cells.mjs';
import { cellsOf } from '../../../../bench/cells.mjs';
import type { Run } from '../../../../bench/run/measure.mjs';
import { orderOf, runRounds } from '../../../../bench/run/rounds.mjs';

const cell = (name: string, groups: Cell['groups']): Cell => ({
  name,
  groups,
  queueType: 'classic',
  prefetch: 1,
  bytes: 250,
  messages: 10,
  handler: 'empty',
});

const run = (perSecond: number): Run => ({
  perSecond,
  cpu: 1,
  peakBytes: 1,
  idleBytes: 1,
  loopDelayMs: 1,
});

describe('the order of a group', () => {
  it('is reversed in every second round, without changing the group', () => {
    const group = ['a', 'b', 'c'];
    expect([0, 1, 2].map((round) => orderOf(group, round).join(''))).toEqual(['abc', 'cba', 'abc']);
    expect(group).toEqual(['a', 'b', 'c']);
  });
});

describe('rounds', () => {
  it('measure every cell once before any is measured again', async () => {
    const cells = [
      cell('one', [
        ['amqplib-each', 'settle'],
        ['golevelup', 'settle'],
      ]),
      cell('two', [['rascal', 'settle']]),
    ];
    const seen: string[] = [];
    const all = await runRounds(cells, 2, async ({ name }, label, round) => {
      seen.push(`${round} ${name} ${label}`);
      return run(seen.length);
    });
    expect(seen).toEqual([
      '0 one amqplib-each',
      '0 one settle',
      '0 one golevelup',
      '0 one settle',
      '0 two rascal',
      '0 two settle',
      '1 one settle',
      '1 one amqplib-each',
      '1 one settle',
      '1 one golevelup',
      '1 two settle',
      '1 two rascal',
    ]);
    // A run belongs to its group: the first group's are 2 and 7, not those of the second.
    const rates = all[0]?.groups.map(({ settle }) => settle?.map(({ perSecond }) => perSecond));
    expect(rates).toEqual([
      [2, 7],
      [4, 9],
    ]);
  });
});

describe('the cells', () => {
  it.each([true, false])('have unique names (quick: %s)', (quick) => {
    const names = cellsOf({ quick }).map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have a run of this package in every group', () => {
    const groups = cellsOf({ quick: false }).flatMap((one) => one.groups);
    const own = groups.filter((group) => group.some((label) => label.startsWith('settle')));
    expect(own).toEqual(groups);
  });

  it('have integer message counts', () => {
    const counts = cellsOf({ quick: false }).map(({ messages }) => messages);
    expect(counts.filter((count) => !Number.isInteger(count))).toEqual([]);
  });
});
