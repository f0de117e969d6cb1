// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/** @type {ChildProcess | undefined} */
let child;
let interrupted = false;

/**
 * From now on a signal that would end this process goes to the command that runs in the foreground instead; between
 * commands it ends this process.
 */
export function passSignalsOn() {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (child === undefined) {
        process.exit(128 + constants.signals[signal]);
      }
      interrupted = true;
      child.kill(signal);
    });
  }
}

/**
 * Whether a signal has been passed on.
 *
 * @returns {boolean}
 */
export function wasInterrupted() {
  return interrupted;
}

/**
 * Runs a command with the terminal of this process. Resolves with its code, or with 128 and the number of the signal
 * that ended it.
 *
 * @param {readonly string[]} command
 * @param {NodeJS.ProcessEnv} environment
 * @returns {Promise<number>}
 */
export function runInForeground([file = '', ...parameters], environment) {
  return new Promise((resolve, reject) => {
    const started = spawn(file, parameters, { env: environment, stdio: 'inherit' });
    child = started;
    started.once('error', (error) => {
      child = undefined;
      reject(error);
    });
    started.once('exit', (code, signal) => {
      child = undefined;
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]);
    });
  });
}
