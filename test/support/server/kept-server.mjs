// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** @typedef {import('./node-files.mjs').Installation} Installation */
/** @typedef {import('./node-files.mjs').Family} Family */
/** @typedef {import('./management.mjs').ManagementDescription} ManagementDescription */

/**
 * What the keeper is asked to start.
 *
 * @typedef {{ kind: 'private node', installation: Installation, family?: Family } | { kind: 'docker', image: string }} KeptServer
 */

/**
 * A running server that ends with `stop`, and also when this process ends in any other way.
 *
 * @typedef {object} RunningServer
 * @property {string} url
 * @property {ManagementDescription} management
 * @property {() => Promise<void>} stop
 */

const keeper = fileURLToPath(new URL('keeper.mjs', import.meta.url));

/**
 * Starts a server in the care of a process of its own, which outlives this one just long enough to remove it.
 *
 * @param {KeptServer} kept
 * @returns {Promise<RunningServer>}
 */
export async function startKeptServer(kept) {
  const child = spawn(process.execPath, [keeper, JSON.stringify(kept)], {
    stdio: 'pipe',
    detached: true,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  /** @type {Promise<string>} */
  const end = new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) =>
      resolve(code === 0 ? '' : `ended with ${signal ?? `code ${code}`}`),
    );
  });
  const lines = createInterface({ input: child.stdout });
  const answer = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    end.then(() => undefined),
  ]);
  if (answer === undefined) {
    throw new Error(`the keeper of the server ${await end}\n${errors}`);
  }
  const { ready, failed } = JSON.parse(answer);
  if (ready === undefined) {
    await end;
    throw new Error(failed);
  }
  const handles = [child, child.stdin, child.stdout, child.stderr];
  eachHandle(handles, 'unref');
  return {
    ...ready,
    async stop() {
      eachHandle(handles, 'ref');
      child.stdin.end();
      const problem = await end;
      if (problem !== '') {
        throw new Error(
          `the keeper of the server ${problem}; parts of the server may be left\n${errors}`,
        );
      }
    },
  };
}

/**
 * Has the keeper start, stop or kill the server it keeps, from any process of this machine.
 *
 * @param {string} control the path of the keeper's socket
 * @param {'start' | 'stop' | 'kill'} order
 * @returns {Promise<void>}
 */
export async function sendOrder(control, order) {
  const socket = connect(control);
  socket.setEncoding('utf8');
  socket.end(JSON.stringify({ order }));
  let answer = '';
  for await (const part of socket) {
    answer += part;
  }
  const { failed } = JSON.parse(answer);
  if (failed !== undefined) {
    throw new Error(`${order}: ${failed}`);
  }
}

/**
 * Lets this process end with these handles open, or keeps it alive for them.
 *
 * @param {readonly object[]} handles
 * @param {'ref' | 'unref'} action
 */
function eachHandle(handles, action) {
  for (const handle of /** @type {Array<{ ref?(): void, unref?(): void }>} */ (handles)) {
    handle[action]?.();
  }
}
