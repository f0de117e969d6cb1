// @ts-check
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** @type {import('node:child_process').ChildProcess | undefined} */
let child;

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    child?.kill(signal);
    process.exit(128 + constants.signals[signal]);
  });
}

/**
 * Runs a command to its end and keeps what it writes; a signal that ends this process ends it first.
 *
 * @param {readonly string[]} command
 * @param {{ cwd: string, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
export function runQuietly([file = '', ...parameters], { cwd, env = process.env }) {
  return new Promise((resolve) => {
    const started = spawn(file, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let output = '';
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const end = (/** @type {number} */ code) => {
      child = undefined;
      resolve({ code, output });
    };
    started.once('error', (error) => {
      output += error.message;
      end(127);
    });
    started.once('close', (code) => end(code ?? 1));
  });
}
