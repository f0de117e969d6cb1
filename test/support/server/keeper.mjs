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

/** @typedef {DockerNode | PrivateNode} Node */

/** @type {Node | undefined} */
let node;
let ending = false;
/** @type {Promise<void>} */
let lastOrder = Promise.resolve();

process.stdin.once('close', end).resume();
process.once('SIGTERM', end);
// Nobody reads what is written after the process at the other end is gone.
process.stdout.on('error', end);
process.stderr.on('error', end);

try {
  node = await make(JSON.parse(process.argv[2] ?? ''));
  if (ending) {
    await remove(node);
  }
  await node.start();
  const control = join(node.folder, 'control');
  await listen(control, node);
  answer({ ready: { url: node.url, management: { ...node.management, control } } });
} catch (error) {
  process.exitCode = 1;
  answer({ failed: messageOf(error) });
  end();
}

/**
 * @param {KeptServer} kept
 * @returns {Promise<Node>}
 */
function make(kept) {
  return kept.kind === 'docker'
    ? DockerNode.make(kept)
    : PrivateNode.make(kept.installation, kept.family);
}

/** Removes the server, as soon as there is one, and ends this process. */
function end() {
  if (ending) {
    return;
  }
  ending = true;
  if (node !== undefined) {
    remove(node);
  } else if (process.exitCode !== undefined) {
    process.exit();
  }
}

/**
 * @param {Node} node
 * @returns {Promise<never>}
 */
async function remove(node) {
  try {
    await node.remove();
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
  return process.exit();
}

/**
 * @param {string} path
 * @param {Node} node
 * @returns {Promise<void>}
 */
function listen(path, node) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.on('error', (error) => console.error(error.message));
    socket.on('data', (part) => {
      text += part;
    });
    socket.on('end', async () => {
      socket.end(`${JSON.stringify(await carryOut(text, node))}\n`);
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
 * @param {Node} node
 * @returns {Promise<{ failed?: string }>}
 */
async function carryOut(text, node) {
  try {
    /** @type {{ order: 'start' | 'stop' | 'kill' }} */
    const { order } = JSON.parse(text);
    const mine = lastOrder.then(() => node[order]());
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
