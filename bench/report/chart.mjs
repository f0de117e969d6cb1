// @ts-check
import { programs } from '../programs.mjs';
import { median } from '../statistics.mjs';

/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('../run/rounds.mjs').CellRuns} CellRuns */

/** @typedef {{ name: string, value: number, own: boolean }} Bar */
/** @typedef {{ title: string, bars: Bar[] }} Panel */

const WIDTH = 720;
const NAME_WIDTH = 250;
const VALUE_WIDTH = 80;
const ROW = 26;
const PANEL_HEAD = 44;

// Readable on a white and on a black page.
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .note { font-size: 12px; fill: #59636e; }
  .bar { fill: #9aa6b2; }
  .own { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .note { fill: #9198a1; }
    .bar { fill: #59636e; }
    .own { fill: #3fb950; }
  }`;

/**
 * The panels of the chart: one for each cell with an empty handler and prefetch 250, fastest program first.
 *
 * @param {readonly CellRuns[]} cells
 * @returns {Panel[]}
 */
export function panelsOf(cells) {
  return cells
    .filter(({ cell }) => /^empty handler, .*prefetch 250$/.test(cell.name))
    .map(({ cell, groups }) => {
      const labels = /** @type {ProgramLabel[]} */ ([...new Set(cell.groups.flat())]);
      const bars = labels.map((label) => ({
        name: programs[label].name,
        value: median(groups.flatMap((group) => group[label] ?? []).map((run) => run.perSecond)),
        own: label.startsWith('settle'),
      }));
      return {
        title: `${cell.queueType} queue, ${cell.bytes} bytes, prefetch ${cell.prefetch}`,
        bars: bars.sort((one, other) => other.value - one.value),
      };
    });
}

/**
 * A chart of messages a second, as SVG.
 *
 * @param {readonly Panel[]} panels
 * @param {string} note what was measured, and on what
 * @returns {string}
 */
export function chartOf(panels, note) {
  const most = Math.max(...panels.flatMap(({ bars }) => bars.map(({ value }) => value)));
  /** @type {string[]} */
  const parts = [];
  let y = 8;
  for (const { title, bars } of panels) {
    parts.push(
      `<text class="title" x="8" y="${y + 20}">Messages a second: ${escaped(title)}</text>`,
    );
    y += PANEL_HEAD - 12;
    for (const bar of bars) {
      parts.push(...rowOf(bar, y, most));
      y += ROW;
    }
    y += 12;
  }
  parts.push(`<text class="note" x="8" y="${y + 14}">${escaped(note)}</text>`);
  const height = y + 26;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">`,
    `<title>Messages a second of consumers of RabbitMQ for Node</title>`,
    `<style>${STYLE}\n</style>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

/**
 * @param {Bar} bar
 * @param {number} y
 * @param {number} most
 * @returns {string[]}
 */
function rowOf({ name, value, own }, y, most) {
  const room = WIDTH - NAME_WIDTH - VALUE_WIDTH;
  const width = ((value / most) * room).toFixed(1);
  const end = (NAME_WIDTH + Number(width) + 8).toFixed(1);
  const middle = y + ROW / 2 + 5;
  return [
    `<text x="${NAME_WIDTH - 10}" y="${middle}" text-anchor="end">${escaped(name)}</text>`,
    `<rect class="${own ? 'own' : 'bar'}" x="${NAME_WIDTH}" y="${y + 4}" width="${width}" height="${ROW - 8}" rx="3"/>`,
    `<text x="${end}" y="${middle}">${Math.round(value).toLocaleString('en-US')}</text>`,
  ];
}

/**
 * @param {string} text
 * @returns {string}
 */
function escaped(text) {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
