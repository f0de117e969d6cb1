// @ts-check
import { programs } from '../programs.mjs';
import { median, medianInterval } from '../statistics.mjs';
import { ratiosIn } from './estimates.mjs';

/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('../run/delays.mjs').Delays} Delays */
/** @typedef {import('../run/measure.mjs').Run} Run */
/** @typedef {import('../run/rounds.mjs').CellRuns} CellRuns */
/** @typedef {import('../run/rounds.mjs').GroupRuns} GroupRuns */
/** @typedef {import('../statistics.mjs').Interval} Interval */
/** @typedef {import('./estimates.mjs').Estimate} Estimate */

/**
 * A Markdown table whose columns line up; all but the first are for numbers.
 *
 * @param {readonly string[]} head
 * @param {ReadonlyArray<readonly string[]>} rows
 * @param {{ textColumns?: number }} [options] how many of the first columns are text
 * @returns {string}
 */
export function markdownTable(head, rows, { textColumns = 1 } = {}) {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (/** @type {readonly string[]} */ cells) =>
    `| ${widths
      .map((width, column) => {
        const text = cells[column] ?? '';
        return column < textColumns ? text.padEnd(width) : text.padStart(width);
      })
      .join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column < textColumns ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

/**
 * The medians of all programs of a cell, and this package's rate as a multiple of each other's.
 *
 * @param {CellRuns} cellRuns
 * @returns {string}
 */
export function cellTable({ cell, groups }) {
  const labels = /** @type {ProgramLabel[]} */ ([...new Set(cell.groups.flat())]);
  const rows = labels.map((label) => {
    const runs = groups.flatMap((group) => group[label] ?? []);
    const middle = (/** @type {(run: Run) => number} */ value) => median(runs.map(value));
    return [
      programs[label].name,
      middle(({ perSecond }) => perSecond).toFixed(0),
      middle(({ cpu }) => cpu).toFixed(1),
      megabytes(middle(({ peakBytes }) => peakBytes)),
      megabytes(middle(({ idleBytes }) => idleBytes)),
      middle(({ loopDelayMs }) => loopDelayMs).toFixed(1),
      ratioText(groups, label),
    ];
  });
  const head = ['', 'messages/s', 'CPU us', 'peak MB', 'idle MB', 'loop p99 ms', 'ratio to it'];
  return `${cell.name}\n\n${markdownTable(head, rows)}`;
}

/**
 * @param {readonly Estimate[]} estimates
 * @returns {string}
 */
export function targetTable(estimates) {
  const rows = estimates.map(({ name, cell, what, interval, limit, verdict }) => [
    name,
    cell,
    what,
    'atLeast' in limit ? `>= ${limit.atLeast}` : `<= ${limit.atMost}`,
    intervalText(interval),
    verdict,
  ]);
  const head = ['against', 'cell', 'what', 'target', 'median [95 %]', 'verdict'];
  return markdownTable(head, rows, { textColumns: 3 });
}

/**
 * @param {readonly Delays[]} delays
 * @returns {string}
 */
export function delayTable(delays) {
  const rows = delays.map((one) => [
    one.queueType,
    String(one.messages),
    String(one.differentDelays),
    String(one.waitingQueues),
    ...[one.least, one.p50, one.p99, one.loopDelayMs].map((ms) => ms.toFixed(1)),
  ]);
  const late = ['least late ms', 'p50 late ms', 'p99 late ms', 'loop p99 ms'];
  return markdownTable(['delays', 'messages', 'delays', 'waiting queues', ...late], rows);
}

/**
 * @param {Interval} interval
 * @returns {string}
 */
export function intervalText({ middle, low, high }) {
  const [one, two, three] = [middle, low, high].map((value) => value.toFixed(2));
  return low === high ? `${one}` : `${one} [${two}, ${three}]`;
}

/**
 * @param {readonly GroupRuns[]} groups
 * @param {ProgramLabel} label
 * @returns {string}
 */
function ratioText(groups, label) {
  const subject = subjectFor(label, groups);
  if (subject === undefined || subject === label) return '';
  const ratios = ratiosIn(groups, subject, label, 'rate');
  return ratios === undefined ? '' : intervalText(medianInterval(ratios));
}

/**
 * The program of this package that another one is compared with: the one that does the same (`settle-pipe` for
 * `golevelup-pipe`), else the one with everything on, else the first.
 *
 * @param {ProgramLabel} label
 * @param {readonly GroupRuns[]} groups
 * @returns {ProgramLabel | undefined}
 */
function subjectFor(label, groups) {
  const labels = /** @type {ProgramLabel[]} */ (groups.flatMap((group) => Object.keys(group)));
  const own = labels.filter((one) => one.startsWith('settle'));
  const same = own.find((one) => one === label.replace(/^(amqplib|golevelup|rascal)-/, 'settle-'));
  return same ?? own.find((one) => one === 'settle') ?? own[0];
}

/**
 * @param {number} bytes
 * @returns {string}
 */
function megabytes(bytes) {
  return (bytes / 2 ** 20).toFixed(0);
}
