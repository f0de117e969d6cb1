// @ts-check
/**
 * How many messages a second one subscription takes, against a plain `@RabbitSubscribe` of golevelup in the same run:
 * 20 000 messages of 250 bytes, prefetch 250, an empty handler, and on the side of this package `retry`, `deadLetter`
 * and all policies declared. The two take turns, each consumer in a process of its own; the median of five rounds
 * counts. `RABBITMQ_URL` names the server; `--messages N` and `--rounds N` make it shorter.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { cpus, release, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { connect } from 'amqplib';

/** @typedef {'settle' | 'golevelup'} Kind */
/** @typedef {{ perSecond: number, cpu: number }} Measured */

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
  },
});
const messages = Number(values.messages);
const rounds = Number(values.rounds);
const prefetch = 250;
const bytes = 250;
const uri = process.env['RABBITMQ_URL'] ?? 'amqp://localhost';
const consumer = fileURLToPath(new URL('measure/consumer.mjs', import.meta.url));

const connection = await connect(uri);
const channel = await connection.createConfirmChannel();
/** @type {Record<Kind, Measured[]>} */
const results = { settle: [], golevelup: [] };
for (let round = 0; round < rounds; round += 1) {
  /** @type {Kind[]} */
  const order = round % 2 === 0 ? ['settle', 'golevelup'] : ['golevelup', 'settle'];
  for (const kind of order) results[kind].push(await measure(kind));
}
printTable();
await connection.close();

/**
 * Fills a queue, lets one consumer take everything, and looks that nothing is left.
 *
 * @param {Kind} kind
 * @returns {Promise<Measured>}
 */
async function measure(kind) {
  const queue = `measure.${kind}.${process.pid}`;
  await channel.assertQueue(queue, { durable: true });
  await fill(queue);
  const { ms, cpuMicroseconds } = await consume(kind, queue);
  const { messageCount } = await channel.checkQueue(queue);
  await channel.deleteQueue(queue);
  await channel.deleteQueue(`${queue}.dead`);
  if (messageCount > 0) throw new Error(`${kind} left ${messageCount} messages`);
  return { perSecond: (messages - 1) / (ms / 1000), cpu: cpuMicroseconds / messages };
}

/**
 * @param {string} queue
 */
async function fill(queue) {
  const empty = JSON.stringify({ text: '' });
  const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes - empty.length) }));
  for (let sent = 0; sent < messages; sent += 1) {
    const hasRoom = channel.sendToQueue(queue, body, { persistent: true });
    if (!hasRoom) await once(channel, 'drain');
  }
  await channel.waitForConfirms();
}

/**
 * @param {Kind} kind
 * @param {string} queue
 * @returns {Promise<{ ms: number, cpuMicroseconds: number }>}
 */
async function consume(kind, queue) {
  const child = fork(consumer, [kind, uri, queue, String(messages), String(prefetch)]);
  const ended = once(child, 'exit');
  const result = await Promise.race([
    once(child, 'message').then(([message]) => message),
    ended.then(([code]) => Promise.reject(new Error(`the consumer ${kind} ended with ${code}`))),
  ]);
  await ended;
  return result;
}

function printTable() {
  const { serverProperties } = /** @type {{ serverProperties: { version: string } }} */ (
    /** @type {unknown} */ (connection.connection)
  );
  const versionOf = (/** @type {string} */ name) =>
    createRequire(import.meta.url)(`${name}/package.json`).version;
  const [cpu] = cpus();
  console.log(`${cpu?.model.trim()}, ${cpus().length} cores; ${type()} ${release()}`);
  console.log(`Node ${process.versions.node}, RabbitMQ ${serverProperties.version}`);
  console.log(`${messages} messages of ${bytes} bytes, prefetch ${prefetch}, ${rounds} rounds`);
  row('', 'messages/s', 'CPU/message', 'all rounds');
  for (const [kind, name] of /** @type {[Kind, string][]} */ ([
    ['settle', `nestjs-settle ${versionOf('nestjs-settle')}`],
    ['golevelup', `golevelup ${versionOf('@golevelup/nestjs-rabbitmq')}`],
  ])) {
    const rates = results[kind].map(({ perSecond }) => Math.round(perSecond));
    const cpuTime = `${median(results[kind].map((one) => one.cpu)).toFixed(1)} us`;
    row(name, String(Math.round(median(rates))), cpuTime, rates.join(' '));
  }
}

/**
 * @param {string} name
 * @param {string} perSecond
 * @param {string} cpuTime
 * @param {string} all
 */
function row(name, perSecond, cpuTime, all) {
  console.log(`${name.padEnd(22)}${perSecond.padStart(10)}${cpuTime.padStart(14)}   ${all}`);
}

/**
 * @param {number[]} numbers
 * @returns {number}
 */
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
