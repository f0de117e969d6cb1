// @ts-check
/** @typedef {import('../cells.mjs').Cell} Cell */
/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('./measure.mjs').Run} Run */

/**
 * The runs of one group in one cell, a list for each program with one entry a round.
 *
 * @typedef {Partial<Record<ProgramLabel, Run[]>>} GroupRuns
 */

/** @typedef {{ cell: Cell, groups: GroupRuns[] }} CellRuns */

/**
 * In which order the programs of a group run: the other way round in every second round.
 *
 * @template Label
 * @param {readonly Label[]} group
 * @param {number} round
 * @returns {Label[]}
 */
export function orderOf(group, round) {
  return round % 2 === 0 ? [...group] : [...group].reverse();
}

/**
 * Measures all cells, round by round: each cell is measured once before any is measured again.
 *
 * @param {readonly Cell[]} cells
 * @param {number} rounds
 * @param {(cell: Cell, label: ProgramLabel, round: number) => Promise<Run>} measure
 * @returns {Promise<CellRuns[]>}
 */
export async function runRounds(cells, rounds, measure) {
  /** @type {CellRuns[]} */
  const all = cells.map((cell) => ({ cell, groups: cell.groups.map(() => ({})) }));
  for (let round = 0; round < rounds; round += 1) {
    for (const { cell, groups } of all) {
      for (const [index, group] of cell.groups.entries()) {
        for (const label of orderOf(group, round)) {
          const runs = groups[index] ?? {};
          const run = await measure(cell, label, round);
          runs[label] = [...(runs[label] ?? []), run];
        }
      }
    }
  }
  return all;
}
