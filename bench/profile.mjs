// @ts-check
/**
 * What a delivery costs, stage by stage: `npm run bench:profile` runs a program with `--cpu-prof` and prints the
 * processor time of a message by the place where it was spent. `npm run bench:profile -- golevelup settle-retry` takes
 * other programs; without a name it is `settle`, everything on.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer } from '../test/support/server/find-server.mjs';
import { programs } from './programs.mjs';
import { describeMachine } from './report/machine.mjs';
import { costsOf } from './report/stages.mjs';
import { markdownTable } from './report/tables.mjs';
import { Child } from './run/child.mjs';
import { ensurePackages } from './run/packages.mjs';
import { Queues } from './run/queues.mjs';

/** @typedef {import('./programs.mjs').ProgramLabel} ProgramLabel */

const PREFETCH = 250;
const BYTES = 250;

const asked = process.argv.slice(2);
const labels = /** @type {ProgramLabel[]} */ (asked.length > 0 ? asked : ['settle']);
for (const label of labels) {
  if (programs[label] === undefined) throw new Error(`no program "${label}"`);
}
const log = (/** @type {string} */ line) => console.error(line);
ensurePackages(log);
const server = await findServer({ log });
const queues = await Queues.open(server.url);
try {
  const { cpu, node } = describeMachine(server.version);
  console.log(`${cpu}; Node ${node}, RabbitMQ ${server.version}; prefetch ${PREFETCH}`);
  for (const label of labels) console.log(`\n${programs[label].name}\n\n${await tableOf(label)}`);
} finally {
  await queues.close();
  await server.stop();
}

/**
 * @param {ProgramLabel} label
 * @returns {Promise<string>}
 */
async function tableOf(label) {
  const isFailing = /retry|dead/.test(label);
  const messages = isFailing ? 20_000 : 200_000;
  const handler = label.includes('retry') ? 'failTwice' : label.includes('dead') ? 'fail' : 'empty';
  const queue = `bench.profile.${process.pid}.${label}`;
  const dead = `${queue}.dead`;
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-profile-'));
  const place = { uri: server.url, queue, dead, queueType: 'classic', prefetch: PREFETCH };
  const job = { ...place, messages, warmUp: 0, handler };
  const child = new Child(label, job, ['--cpu-prof', `--cpu-prof-dir=${folder}`]);
  try {
    await queues.declare(queue, dead, 'classic', {});
    await child.told('loaded');
    await queues.fill(queue, { messages, bytes: BYTES, envelope: programs[label].envelope });
    child.order('start');
    if (handler === 'fail') {
      await queues.untilCount(dead, messages, 180_000);
      child.order('finish');
    }
    await child.told('done', 180_000);
    await child.ended();
    const [file = ''] = readdirSync(folder);
    const costs = costsOf(JSON.parse(readFileSync(join(folder, file), 'utf8')), messages);
    const rows = costs.map(({ stage, microseconds }) => [stage, microseconds.toFixed(2)]);
    return markdownTable(['where', 'us a message'], rows, { textColumns: 1 });
  } finally {
    child.kill();
    await queues.delete([queue, dead]);
    rmSync(folder, { recursive: true, force: true });
  }
}
