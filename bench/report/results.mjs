// @ts-check
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { leftOut } from '../programs.mjs';
import { chartOf, panelsOf } from './chart.mjs';
import { estimatesOf } from './estimates.mjs';
import { machineLine } from './machine.mjs';
import { cellTable, delayTable, targetTable } from './tables.mjs';

/**
 * All that was measured, as it is written to a file.
 *
 * @typedef {object} Results
 * @property {string} startedAt
 * @property {number} minutes
 * @property {number} rounds
 * @property {boolean} complete whether all cells of the full run are in it
 * @property {import('./machine.mjs').Machine} machine
 * @property {import('../run/rounds.mjs').CellRuns[]} cells
 * @property {import('../run/delays.mjs').Delays[]} delays
 */

const folder = new URL('../results/', import.meta.url);
const documents = new URL('../../docs/', import.meta.url);

/**
 * The report for the terminal, in Markdown.
 *
 * @param {Results} results
 * @returns {string}
 */
export function reportOf({ machine, rounds, minutes, cells, delays }) {
  const versions = Object.entries(machine.packages).map(([name, version]) => `${name} ${version}`);
  const estimates = estimatesOf(cells, delays);
  return [
    machineLine(machine),
    versions.join(', '),
    `${rounds} rounds, ${minutes.toFixed(1)} min. "Ratio to it": messages a second of nestjs-settle divided by those of ` +
      'that line, median of the rounds with its bootstrap 95 % interval',
    ...cells.map(cellTable),
    ...(delays.length > 0 ? [delayTable(delays)] : []),
    ...(estimates.length > 0 ? [targetTable(estimates)] : []),
    ...leftOut.map(({ name, reason }) => `Not measured: ${name}; ${reason}`),
  ].join('\n\n');
}

/**
 * Writes the results as JSON and as a chart. The chart of a full run is the one that the README shows.
 *
 * @param {Results} results
 * @returns {string[]} the files
 */
export function writeResults(results) {
  mkdirSync(folder, { recursive: true });
  const json = new URL(`${results.startedAt.replace(/[:.]/g, '-')}.json`, folder);
  writeFileSync(json, `${JSON.stringify(results, null, 1)}\n`);
  return [fileURLToPath(json), ...writeChart(results)];
}

/**
 * @param {Results} results
 * @returns {string[]} the file, if there is something to show
 */
export function writeChart({ machine, rounds, cells, complete }) {
  const panels = panelsOf(cells);
  if (panels.length === 0) return [];
  const target = complete ? documents : folder;
  mkdirSync(target, { recursive: true });
  const file = new URL('benchmark.svg', target);
  const note = `${machineLine(machine)}; median of ${rounds} rounds`;
  writeFileSync(file, chartOf(panels, note));
  return [fileURLToPath(file)];
}

/**
 * @param {string} file
 * @returns {Results}
 */
export function readResults(file) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
