// @ts-check
/**
 * The process that owns a test server. It is started by `startKeptServer` and lives as long as its standard input
 * is open: when the process at the other end stops it, exits or is killed, the server is ended and removed.
 *
 * Its only argument is a `KeptServer` as JSON. It answers with one line of JSON on standard output: `{ "ready": ... }`
 * or `{ "failed": "..." }`. While the server runs it takes orders on a socket in the server's folder: one JSON line
 * `{ "order": "start" | "stop" | "kill" }` a connection, answered with `{}` or `{ "failed": "..." }`.
 */
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DockerNode } from './docker.mjs';
import { PrivateNode } from './private-node.mjs';

/** @typedef {import('./kept-server.mjs').KeptServer} KeptServer */

/** @type {KeptServer} */
const kept = JSON.parse(process.argv[2] ?? '');
const node =
  kept.kind === 'docker' ? await DockerNode.make(kept) : await PrivateNode.make(kept.installation);
const orders = {
  start: () => node.start(),
  stop: () => node.stop(),
  kill: () => node.kill(),
};
/** @type {Promise<void>} */
let lastOrder = Promise.resolve();
/** @type {Promise<void> | undefined} */
let removal;

process.stdin.once('close', () => end(0));
process.stdin.resume();
process.once('SIGTERM', () => end(0));
process.stdout.on('error', () => end(0));

try {
  await node.start();
  const control = join(node.folder, 'control');
  await listen(control);
  answer({ ready: { url: node.url, management: { ...node.management, control } } });
} catch (error) {
  answer({ failed: messageOf(error) });
  await end(1);
}

/**
 * Removes the server and ends this process.
 *
 * @param {number} code
 * @returns {Promise<void>}
 */
async function end(code) {
  removal ??= node.remove();
  try {
    await removal;
    process.exit(code);
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
}

/**
 * @param {string} path
 * @returns {Promise<void>}
 */
function listen(path) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', (error) => console.error(error.message));
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('end', async () => {
      socket.end(`${JSON.stringify(await carryOut(text))}\n`);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

/**
 * Carries orders out one after the other.
 *
 * @param {string} text
 * @returns {Promise<{ failed?: string }>}
 */
async function carryOut(text) {
  try {
    /** @type {{ order: keyof typeof orders }} */
    const { order } = JSON.parse(text);
    const mine = lastOrder.then(orders[order]);
    lastOrder = mine.catch(() => {});
    await mine;
    return {};
  } catch (error) {
    return { failed: messageOf(error) };
  }
}

/**
 * @param {object} value
 */
function answer(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
