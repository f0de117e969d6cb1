// @ts-check
/**
 * Fails if the processor time of a message, divided by that of amqplib in the same run, has grown by more than 15 %
 * against the recorded ratio:
 *
 *     npm run bench:cost                  compares
 *     npm run bench:cost -- --update      records
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findServer } from '../test/support/server/find-server.mjs';
import { cellsOf, DECLARED } from './cells.mjs';
import { measure } from './run/measure.mjs';
import { ensurePackages } from './run/packages.mjs';
import { Queues } from './run/queues.mjs';
import { median } from './statistics.mjs';

const ROUNDS = 7;
const MOST_GROWTH = 1.15;
const RECORDED = fileURLToPath(new URL('recorded-cost.json', import.meta.url));

const { values } = parseArgs({ options: { update: { type: 'boolean', default: false } } });
const log = (/** @type {string} */ line) => console.error(line);
ensurePackages(log);
const server = await findServer({ log });
const queues = await Queues.open(server.url);
try {
  const ratios = await measureRatios();
  if (values.update) writeFileSync(RECORDED, `${JSON.stringify(ratios, undefined, 2)}\n`);
  else compare(ratios);
} finally {
  await queues.close();
  await server.stop();
}

/**
 * @returns {Promise<Record<string, number>>} by the name of the cell
 */
async function measureRatios() {
  /** @type {Record<string, number>} */
  const ratios = {};
  for (const cell of cellsOf({ quick: false })) {
    if (!cell.groups.includes(DECLARED)) continue;
    const ofRounds = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      /** @type {Partial<Record<import('./programs.mjs').ProgramLabel, number>>} */
      const cpu = {};
      const labels = round % 2 === 0 ? DECLARED : [...DECLARED].reverse();
      for (const label of labels) {
        cpu[label] = (await measure(server.url, queues, cell, label)).cpu;
      }
      ofRounds.push(
        (cpu['settle-declared'] ?? Number.NaN) / (cpu['amqplib-multiple'] ?? Number.NaN),
      );
    }
    ratios[cell.name] = Number(median(ofRounds).toFixed(3));
    console.log(`${cell.name}: ${ratios[cell.name]} of amqplib's processor time`);
  }
  return ratios;
}

/**
 * @param {Record<string, number>} ratios
 */
function compare(ratios) {
  const recorded = JSON.parse(readFileSync(RECORDED, 'utf8'));
  for (const [name, ratio] of Object.entries(ratios)) {
    const limit = recorded[name] * MOST_GROWTH;
    if (ratio <= limit) continue;
    console.error(
      `${name}: expected at most ${limit.toFixed(2)} of amqplib's processor time; found ${ratio}. ` +
        'Run `npm run bench:profile` to see where it is spent',
    );
    process.exitCode = 1;
  }
}
