// @ts-check
/**
 * What becomes of a poison message, one whose handler always fails, on a quorum queue: `npm run bench:poison` gives it
 * to each library for 5 s, set up for three attempts at most as far as its documentation goes, and prints a Markdown
 * table. RabbitMQ 4.3, or another release with `--rabbitmq=4.0`.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { findServer } from '../test/support/server/find-server.mjs';
import { takeReleases } from '../test/support/server/releases.mjs';
import { isOlder, poisonCases } from './poison-cases.mjs';
import { leftOut, programs } from './programs.mjs';
import { describeMachine } from './report/machine.mjs';
import { markdownTable } from './report/tables.mjs';
import { Child } from './run/child.mjs';
import { ensurePackages } from './run/packages.mjs';
import { Queues } from './run/queues.mjs';

const SECONDS = 5;
const PREFETCH = 10;

const log = (/** @type {string} */ line) => console.error(line);
const { asked } = takeReleases(process.argv.slice(2));
ensurePackages(log);
const server = await findServer({ log, version: asked[0] ?? '4.3' });
const queues = await Queues.open(server.url);
try {
  const rows = [];
  for (const poisonCase of poisonCases) {
    if (isOlder(server.version, poisonCase.since)) continue;
    log(programs[poisonCase.label].name);
    rows.push(await rowOf(poisonCase));
  }
  const head = [
    'library',
    'how it retries',
    `deliveries in ${SECONDS} s`,
    'where the message is then',
  ];
  const { node, packages } = describeMachine(server.version);
  const versions = Object.entries(packages).map(([name, version]) => `${name} ${version}`);
  console.log(`RabbitMQ ${server.version}, Node ${node}, ${versions.join(', ')}\n`);
  console.log(markdownTable(head, rows, { textColumns: 4 }));
  for (const { name, reason } of leftOut) console.log(`\nLeft out: ${name}; ${reason}`);
} finally {
  await queues.close();
  await server.stop();
}

/**
 * @param {import('./poison-cases.mjs').PoisonCase} poisonCase
 * @returns {Promise<string[]>}
 */
async function rowOf({ label, how, declares }) {
  const queue = `bench.poison.${process.pid}.${label}`;
  const dead = `${queue}.dead`;
  const queueType = 'quorum';
  const job = {
    uri: server.url,
    queue,
    dead,
    queueType,
    prefetch: PREFETCH,
    messages: 1,
    warmUp: 0,
  };
  const child = new Child(label, { ...job, handler: 'fail' });
  try {
    const limits = {
      'x-delivery-limit': 2,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': dead,
    };
    if (!declares) await queues.declare(queue, dead, queueType, limits);
    await child.told('loaded');
    child.order('start');
    await child.told('consuming');
    await queues.fill(queue, { messages: 1, bytes: 100, envelope: programs[label].envelope });
    await child.told('first');
    await wait((SECONDS - 1) * 1000);
    child.order('count');
    const { calls: before } = await child.told('count');
    await wait(1000);
    child.order('finish');
    const { calls } = await child.told('done');
    const place = await placeOf(queue, dead, child, calls > before);
    return [programs[label].name, how, calls.toLocaleString('en-US'), place];
  } finally {
    child.kill();
    await queues.delete([queue, dead, `${queue}.waitq.208`]);
  }
}

/**
 * Where the message is once the consumer has gone, and what it was doing while that was there.
 *
 * @param {string} queue
 * @param {string} dead
 * @param {Child} child
 * @param {boolean} moving whether it was still being delivered
 * @returns {Promise<string>}
 */
async function placeOf(queue, dead, child, moving) {
  await child.ended();
  if ((await queues.countOf(dead)) > 0) return 'in the dead-letter queue';
  if (moving) return 'delivered again and again';
  return (await queues.countOf(queue)) > 0
    ? 'unacknowledged as long as the process runs'
    : 'nowhere: it is lost';
}
