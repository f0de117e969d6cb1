// @ts-check
/**
 * `node run-with-server.mjs -- command parameters...` runs a command with a RabbitMQ server: it finds or starts one,
 * gives the command `RABBITMQ_URL` (and `RABBITMQ_MANAGEMENT_URL` where there is one), passes signals on to it, ends
 * the server and exits as the command did: with its code, or with 128 and the number of the signal that ended it.
 */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { findServer } from './find-server.mjs';

const [file, ...parameters] = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
if (file === undefined) {
  console.error('usage: node run-with-server.mjs -- command parameters...');
  process.exit(2);
}

/** @type {import('node:child_process').ChildProcess | undefined} */
let child;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    if (child === undefined) {
      process.exit(128 + constants.signals[signal]);
    }
    child.kill(signal);
  });
}

try {
  const server = await findServer({ log: (line) => console.error(line) });
  try {
    process.exitCode = await runCommand(file, parameters, {
      ...process.env,
      RABBITMQ_URL: server.url,
      ...(server.management && { RABBITMQ_MANAGEMENT_URL: server.management.describe().url }),
    });
  } finally {
    await server.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {string} command
 * @param {string[]} rest
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<number>}
 */
function runCommand(command, rest, environment) {
  return new Promise((resolve, reject) => {
    child = spawn(command, rest, { env: environment, stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}
