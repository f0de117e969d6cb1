// @ts-check
import { medianInterval, ratiosOf, verdictOf } from '../statistics.mjs';
import { costTargets, DELAY_LIMIT, EARLY_LIMIT, ratioTargets } from '../targets.mjs';

/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('../run/delays.mjs').Delays} Delays */
/** @typedef {import('../run/measure.mjs').Run} Run */
/** @typedef {import('../run/rounds.mjs').CellRuns} CellRuns */
/** @typedef {import('../run/rounds.mjs').GroupRuns} GroupRuns */
/** @typedef {import('../statistics.mjs').Interval} Interval */
/** @typedef {import('../statistics.mjs').Limit} Limit */
/** @typedef {import('../targets.mjs').Quantity} Quantity */

/**
 * One target in one cell.
 *
 * @typedef {object} Estimate
 * @property {string} name
 * @property {string} cell
 * @property {string} what
 * @property {Interval} interval
 * @property {Limit} limit
 * @property {import('../statistics.mjs').Verdict} verdict
 */

/** @type {Record<Quantity, (run: Run) => number>} */
const quantityOf = {
  rate: ({ perSecond }) => perSecond,
  cpu: ({ cpu }) => cpu,
  memory: ({ peakBytes }) => peakBytes,
};

const WHAT = { rate: 'messages/s', cpu: 'CPU a message', memory: 'peak memory' };

/**
 * All targets in all cells that were measured.
 *
 * @param {readonly CellRuns[]} cells
 * @param {readonly Delays[]} delays
 * @returns {Estimate[]}
 */
export function estimatesOf(cells, delays) {
  return [...ratioEstimates(cells), ...costEstimates(cells), ...delays.flatMap(delayEstimates)];
}

/**
 * The ratios of two programs, round by round, in the group where they are neighbours; undefined where there is none.
 *
 * @param {readonly GroupRuns[]} groups
 * @param {ProgramLabel} subject
 * @param {ProgramLabel} peer
 * @param {Quantity} quantity
 * @returns {number[] | undefined}
 */
export function ratiosIn(groups, subject, peer, quantity) {
  const group = groups.find((runs) => runs[subject] !== undefined && runs[peer] !== undefined);
  if (group === undefined) return undefined;
  return ratiosOf(valuesOf(group, subject, quantity), valuesOf(group, peer, quantity));
}

/**
 * @param {readonly CellRuns[]} cells
 * @returns {Estimate[]}
 */
function ratioEstimates(cells) {
  return ratioTargets.flatMap(({ name, cells: pattern, subject, peer, quantity, limit }) =>
    cells
      .filter(({ cell }) => pattern.test(cell.name))
      .flatMap(({ cell, groups }) => {
        const ratios = ratiosIn(groups, subject, peer, quantity);
        if (ratios === undefined) return [];
        return [estimate(name, cell.name, `${WHAT[quantity]}, ratio`, ratios, limit)];
      }),
  );
}

/**
 * @param {readonly CellRuns[]} cells
 * @returns {Estimate[]}
 */
function costEstimates(cells) {
  return costTargets.flatMap(({ name, cells: pattern, subject, peer, limit }) =>
    cells
      .filter(({ cell }) => pattern.test(cell.name))
      .flatMap(({ cell, groups }) => {
        const group = groups.find((runs) => runs[subject.with] && runs[peer.with]);
        if (group === undefined) return [];
        const added = addedCpu(group, subject);
        const addedToPeer = addedCpu(group, peer);
        const differences = added.map((value, round) => value - Number(addedToPeer[round]));
        return [estimate(name, cell.name, 'CPU a message, us', differences, limit)];
      }),
  );
}

/**
 * @param {Delays} delays
 * @returns {Estimate[]}
 */
function delayEstimates({ queueType, least, allowanceUsedP99 }) {
  const cell = `delays, ${queueType}`;
  return [
    estimate('delay: never early', cell, 'least lateness, ms', [least], EARLY_LIMIT),
    estimate(
      'delay: 12.5 % + 20 ms',
      cell,
      'p99 beyond 12.5 %, ms',
      [allowanceUsedP99],
      DELAY_LIMIT,
    ),
  ];
}

/**
 * @param {GroupRuns} group
 * @param {{ with: ProgramLabel, without: ProgramLabel }} pair
 * @returns {number[]}
 */
function addedCpu(group, pair) {
  const without = valuesOf(group, pair.without, 'cpu');
  return valuesOf(group, pair.with, 'cpu').map((value, round) => value - Number(without[round]));
}

/**
 * @param {GroupRuns} group
 * @param {ProgramLabel} label
 * @param {Quantity} quantity
 * @returns {number[]}
 */
function valuesOf(group, label, quantity) {
  return (group[label] ?? []).map(quantityOf[quantity]);
}

/**
 * @param {string} name
 * @param {string} cell
 * @param {string} what
 * @param {readonly number[]} values
 * @param {Limit} limit
 * @returns {Estimate}
 */
function estimate(name, cell, what, values, limit) {
  const interval = medianInterval(values);
  return { name, cell, what, interval, limit, verdict: verdictOf(interval, limit) };
}
