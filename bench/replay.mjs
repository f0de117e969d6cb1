// @ts-check
/**
 * Messages a second that a replay of dead letters moves: `npm run bench:replay` compares `DeadLetters.replay` with the
 * same pipeline on amqplib alone (consume with a prefetch, publish with a confirm, acknowledge), on classic and quorum
 * queues, and prints a Markdown table. `--messages=50000 --rounds=5`, and `--rabbitmq=4.3` for another release.
 */
import { createRequire } from 'node:module';
import { connect } from 'amqplib';
import { findServer } from '../test/support/server/find-server.mjs';
import { takeReleases } from '../test/support/server/releases.mjs';
import { markdownTable } from './report/tables.mjs';
import { median } from './statistics.mjs';

// The package refers to itself only from its own folder; bench/ has a package.json of its own.
const require = createRequire(new URL('../package.json', import.meta.url));
/** @type {typeof import('nestjs-settle/dead-letters')} */
const { DeadLetters } = require('nestjs-settle/dead-letters');

const WINDOW = 256;
const TARGETS = { classic: 5_000, quorum: 3_000 };

const log = (/** @type {string} */ line) => console.error(line);
const { asked, rest } = takeReleases(process.argv.slice(2));
const messages = numberOf('messages', 50_000);
const rounds = numberOf('rounds', 5);
const server = await findServer({ log, version: asked[0] });
const { connection } = await openConnection();
try {
  const rows = [];
  for (const [type, target] of Object.entries(TARGETS)) {
    /** @type {{ own: number[], raw: number[] }} */
    const rates = { own: [], raw: [] };
    for (let round = 1; round <= rounds; round += 1) {
      log(`${type}, round ${round} of ${rounds}`);
      rates.raw.push(await rateOf(type, replayRaw));
      rates.own.push(await rateOf(type, replayOwn));
    }
    const [own, raw] = [median(rates.own), median(rates.raw)];
    const reached = own >= Math.min(target, 0.8 * raw) ? 'reached' : 'missed';
    rows.push([type, own.toFixed(0), raw.toFixed(0), (own / raw).toFixed(2), reached]);
  }
  const head = ['queue', 'DeadLetters.replay, msg/s', 'amqplib, msg/s', 'ratio', 'target'];
  console.log(`RabbitMQ ${server.version}, Node ${process.version}, ${messages} messages\n`);
  console.log(markdownTable(head, rows, { textColumns: 1 }));
} finally {
  await connection.close();
  await server.stop();
}

/**
 * @param {string} type
 * @param {(dead: string, target: string) => Promise<void>} replay
 * @returns {Promise<number>} messages a second
 */
async function rateOf(type, replay) {
  const [dead, target] = [`bench.replay.${process.pid}.dead`, `bench.replay.${process.pid}.target`];
  const channel = await connection.createConfirmChannel();
  for (const queue of [dead, target]) {
    await channel.deleteQueue(queue);
    await channel.assertQueue(queue, { arguments: { 'x-queue-type': type } });
  }
  const headers = {
    ...{ 'x-settle-reason': 'error', 'x-settle-queue': target, 'x-settle-exchange': 'orders' },
    ...{ 'x-settle-routing-key': 'order.paid', 'x-settle-error-name': 'BankTimeout' },
  };
  for (let id = 1; id <= messages; id += 1) {
    const options = { persistent: true, messageId: String(id), headers };
    channel.sendToQueue(dead, Buffer.alloc(100, 'x'), options);
    if (id % 5_000 === 0) await channel.waitForConfirms();
  }
  await channel.waitForConfirms();
  const started = performance.now();
  await replay(dead, target);
  const seconds = (performance.now() - started) / 1_000;
  const { messageCount } = await channel.checkQueue(target);
  if (messageCount !== messages) throw new Error(`${messageCount} of ${messages} were replayed`);
  for (const queue of [dead, target]) await channel.deleteQueue(queue);
  await channel.close();
  return messages / seconds;
}

/** @param {string} dead */
async function replayOwn(dead) {
  const deadLetters = await DeadLetters.connect(server.url);
  await deadLetters.replay(dead);
  await deadLetters.close();
}

/**
 * @param {string} dead
 * @param {string} target
 */
async function replayRaw(dead, target) {
  const [reading, publishing] = [await openConnection(), await openConnection()];
  const reader = await reading.connection.createChannel();
  const publisher = await publishing.connection.createConfirmChannel();
  await reader.prefetch(WINDOW);
  const replayed = new Promise((/** @type {(done: void) => void} */ resolve, reject) => {
    let done = 0;
    void reader.consume(dead, (message) => {
      if (message === null) return reject(new Error('cancelled'));
      const { content, properties } = message;
      const options = { ...properties, mandatory: true };
      publisher.sendToQueue(target, content, options, (error) => {
        if (error) return reject(error);
        reader.ack(message);
        done += 1;
        if (done === messages) resolve();
      });
    });
  });
  await Promise.race([replayed, reading.failed, publishing.failed]);
  await reader.close();
  await reading.connection.close();
  await publishing.connection.close();
}

/**
 * A connection, and what rejects with the reason if the server closes it with an error.
 */
async function openConnection() {
  const opened = await connect(server.url, { noDelay: true });
  /** @type {Promise<never>} */
  const failed = new Promise((_resolve, reject) => {
    opened.on('error', (error) => {
      log(`A connection was closed: ${error}`);
      reject(error);
    });
  });
  failed.catch(() => undefined); // Nobody may wait for it any more.
  return { connection: opened, failed };
}

/**
 * @param {string} name
 * @param {number} otherwise
 */
function numberOf(name, otherwise) {
  const given = rest.find((one) => one.startsWith(`--${name}=`));
  return given === undefined ? otherwise : Number(given.split('=')[1]);
}
