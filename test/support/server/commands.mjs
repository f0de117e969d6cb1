// @ts-check
import { spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * @typedef {object} CommandOptions
 * @property {NodeJS.ProcessEnv | undefined} [environment] the whole environment of the command; the caller's own when absent
 * @property {number | undefined} [timeout] milliseconds after which the command is ended and the call rejects
 * @property {boolean} [detached] whether signals from the terminal pass it by
 * @property {string} [name] what messages call the command; its words when absent
 */

/**
 * The path of an executable file of this name, looked for in PATH and then in the folders given.
 *
 * @param {string} name
 * @param {readonly string[]} [alsoIn]
 * @returns {string | undefined}
 */
export function findExecutable(name, alsoIn = []) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...alsoIn];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

/**
 * Runs a command without a shell and returns what it wrote to standard output.
 * Rejects with the command line, the reason and the end of what it wrote when it does not exit with 0.
 *
 * @param {readonly string[]} command
 * @param {CommandOptions} [options]
 * @returns {Promise<string>}
 */
export function run(
  command,
  { environment = process.env, timeout = 60_000, detached = false, name = command.join(' ') } = {},
) {
  const [file = '', ...parameters] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(file, parameters, {
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached,
    });
    let output = '';
    let errors = '';
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, timeout);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    child.once('error', (error) => {
      clearTimeout(timer);
      reject(new Error(`${name}: ${error.message}`, { cause: error }));
    });
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) {
        resolve(output);
        return;
      }
      const reason = late ? `no end after ${timeout} ms` : `ended with ${signal ?? `code ${code}`}`;
      reject(new Error(`${name}: ${reason}\n${lastLines(`${output}\n${errors}`, 20)}`));
    });
  });
}

/**
 * The last lines of a text that hold more than white space.
 *
 * @param {string} text
 * @param {number} count
 * @returns {string}
 */
export function lastLines(text, count) {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .join('\n');
}

/**
 * @param {string} path
 * @returns {boolean}
 */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
