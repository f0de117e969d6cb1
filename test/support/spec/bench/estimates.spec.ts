import { describe, expect, it } from 'vitest';
import { cellsOf } from '../../../../bench/cells.mjs';
import { type ProgramLabel, programs } from '../../../../bench/programs.mjs';
import { estimatesOf, ratiosIn } from '../../../../bench/report/estimates.mjs';
import type { Run } from '../../../../bench/run/measure.mjs';
import type { CellRuns } from '../../../../bench/run/rounds.mjs';
import { costTargets, ratioTargets } from '../../../../bench/targets.mjs';

const rates: Partial<Record<ProgramLabel, number>> = { settle: 300, golevelup: 200 };
const cpus: Partial<Record<ProgramLabel, number>> = {
  'settle-plain': 10,
  'settle-pipe': 15,
  golevelup: 20,
  'golevelup-pipe': 27,
};

function runOf(label: ProgramLabel): Run {
  return {
    perSecond: rates[label] ?? 100,
    cpu: cpus[label] ?? 10,
    peakBytes: label === 'settle' ? 130 : 100,
    idleBytes: 1,
    loopDelayMs: 1,
  };
}

const measured: CellRuns[] = cellsOf({ quick: false }).map((cell) => ({
  cell,
  groups: cell.groups.map((group) =>
    Object.fromEntries(group.map((label) => [label, [runOf(label), runOf(label)]])),
  ),
}));

const find = (name: string, cell: string, what: string) =>
  estimatesOf(measured, []).find(
    (one) => one.name === name && one.cell === cell && one.what.startsWith(what),
  );

describe('estimates', () => {
  it('divide the rate of this package by that of its neighbour', () => {
    const found = find('golevelup', 'empty handler, quorum, prefetch 250', 'messages/s');
    expect(found).toMatchObject({ interval: { middle: 1.5 }, verdict: 'reached' });
  });

  it('divide processor time in the same way, less being better', () => {
    const found = find('golevelup', 'empty handler, quorum, prefetch 250', 'CPU');
    expect(found).toMatchObject({ interval: { middle: 0.5 }, verdict: 'reached' });
  });

  it('compare peak memory', () => {
    const cell = 'memory, 16 KiB, classic, prefetch 1000';
    const found = find('amqplib, one ack a message', cell, 'peak memory');
    expect(found).toMatchObject({ interval: { middle: 1.3 }, verdict: 'missed' });
  });

  it('compare the added cost, not the total', () => {
    const found = estimatesOf(measured, []).find(({ name }) => name.startsWith('a ValidationPipe'));
    // (15 - 10) - (27 - 20)
    expect(found).toMatchObject({ interval: { middle: -2 }, verdict: 'reached' });
  });

  it('have a value for each target in at least one cell', () => {
    const names = new Set(estimatesOf(measured, []).map(({ name }) => name));
    const expected = [...ratioTargets, ...costTargets].map(({ name }) => name);
    expect(expected.filter((name) => !names.has(name))).toEqual([]);
  });

  it('leave out what was not measured', () => {
    const one = measured.filter(({ cell }) => cell.name === 'retry at once, classic');
    const names = estimatesOf(one, []).map(({ name }) => name);
    expect(names).toEqual([
      "rascal's republish",
      'copies by hand, the same headers',
      'copies by hand, two headers',
    ]);
  });

  it('compare delays with their limits', () => {
    const delays = {
      queueType: 'quorum',
      messages: 1,
      differentDelays: 1,
      waitingQueues: 1,
      loopDelayMs: 1,
      least: -0.5,
      p50: 1,
      p99: 1,
      allowanceUsedP99: 19,
    };
    expect(estimatesOf([], [delays]).map(({ verdict }) => verdict)).toEqual(['missed', 'reached']);
  });
});

describe('ratios of neighbours', () => {
  it('come from the group that contains both', () => {
    const peer = { ...runOf('golevelup'), perSecond: 50 };
    const groups = [
      { golevelup: [runOf('golevelup')] },
      { settle: [runOf('settle')] },
      { golevelup: [peer], settle: [runOf('settle')] },
    ];
    expect(ratiosIn(groups, 'settle', 'golevelup', 'rate')).toEqual([6]);
  });
});

describe('programs', () => {
  it('exist for every cell', () => {
    const labels = cellsOf({ quick: false }).flatMap(({ groups }) => groups.flat());
    expect(labels.filter((label) => !Object.hasOwn(programs, label))).toEqual([]);
  });
});
