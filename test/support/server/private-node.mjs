// @ts-check
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findExecutable, lastLines, run } from './commands.mjs';
import { makeNodeFiles } from './node-files.mjs';
import { waitUntilReady } from './readiness.mjs';

/** @typedef {import('./node-files.mjs').Installation} Installation */
/** @typedef {import('./node-files.mjs').NodeFiles} NodeFiles */
/** @typedef {import('./node-files.mjs').Family} Family */
/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

const erlangFolders = ['/usr/lib', '/usr/local/lib', '/opt/homebrew/lib'].map(
  (folder) => `${folder}/erlang/bin`,
);
const startTimeout = 90_000;
const stopTimeout = 30_000;

/**
 * Does what a SIGTERM does, five seconds faster: on its way down the handler that collects statistics calls the
 * process that waits for it to end, so it is taken out first.
 */
const stopInErlang =
  'gen_event:delete_handler(rabbit_event, rabbit_mgmt_db_handler, stop), init:stop().';

/**
 * One RabbitMQ node of its own on the loopback interface, with its own name, ports and folders, and with a cookie and
 * an epmd of its own unless it is to form a cluster with another one.
 * Its processes are children of the process that holds this object.
 */
export class PrivateNode {
  #installation;
  #files;
  #hasOwnEpmd;
  /** @type {ChildProcess | undefined} */
  #server;
  /** @type {ChildProcess | undefined} */
  #epmd;

  /**
   * @param {Installation} installation
   * @param {NodeFiles} files
   * @param {{ hasOwnEpmd?: boolean }} [options] whether it starts an epmd; true when absent
   */
  constructor(installation, files, { hasOwnEpmd = true } = {}) {
    this.#installation = installation;
    this.#files = files;
    this.#hasOwnEpmd = hasOwnEpmd;
    this.folder = files.folder;
    this.url = `amqp://guest:guest@127.0.0.1:${files.amqpPort}`;
    /** @type {import('./management.mjs').ManagementDescription} */
    this.management = {
      url: `http://guest:guest@127.0.0.1:${files.managementPort}`,
      ctl: { command: this.#command('rabbitmqctl'), environment: files.environment },
      logPath: files.log,
    };
  }

  /**
   * Makes a node that is not started yet.
   *
   * @param {Installation} installation
   * @param {Family} [family] of a node that it is to form a cluster with
   * @returns {Promise<PrivateNode>}
   */
  static async make(installation, family) {
    const temporaryFolder = installation.root === undefined ? tmpdir() : '/tmp';
    const files = await makeNodeFiles(installation, temporaryFolder, family);
    return new PrivateNode(installation, files, { hasOwnEpmd: family === undefined });
  }

  /**
   * Starts the node and returns once it accepts connections. Rejects with the end of its log when it does not.
   * A node that runs is left as it is.
   *
   * @returns {Promise<void>}
   */
  async start() {
    if (this.#server !== undefined) {
      return;
    }
    this.#startEpmd();
    const problem = this.#startServer();
    const { amqpPort } = this.#files;
    await waitUntilReady({
      amqpPort,
      managementUrl: this.management.url,
      timeout: startTimeout,
      problem,
    });
  }

  /**
   * Stops the node gracefully, or at once if that does not end; its data stays.
   *
   * @returns {Promise<void>}
   */
  async stop() {
    const { ctl } = this.management;
    if (this.#server === undefined || ctl === undefined) {
      return;
    }
    const stopping = run([...ctl.command, '--quiet', 'eval', stopInErlang], ctl);
    const timer = setTimeout(() => this.kill(), stopTimeout);
    try {
      await Promise.all([stopping, ended(this.#server)]);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Ends the node at once; what is on its disk stays.
   *
   * @returns {Promise<void>}
   */
  async kill() {
    const server = this.#server;
    if (server?.pid !== undefined) {
      killGroup(server.pid);
      await ended(server);
    }
  }

  /**
   * Ends the node and its epmd at once and removes everything of it.
   *
   * @returns {Promise<void>}
   */
  async remove() {
    await this.kill();
    this.#epmd?.kill('SIGKILL');
    await ended(this.#epmd);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }

  #startEpmd() {
    if (!this.#hasOwnEpmd || this.#epmd !== undefined) {
      return;
    }
    const { commandPrefix = [] } = this.#installation;
    const epmdFile = commandPrefix.length > 0 ? 'epmd' : findExecutable('epmd', erlangFolders);
    if (epmdFile === undefined) {
      throw new Error('epmd, a part of Erlang, is not in PATH');
    }
    const [file = '', ...parameters] = [...commandPrefix, epmdFile];
    parameters.push('-port', String(this.#files.epmdPort), '-address', '127.0.0.1');
    const epmd = spawn(file, parameters, { env: this.#files.environment, stdio: 'ignore' });
    const forget = () => {
      this.#epmd = undefined;
    };
    epmd.once('error', forget).once('exit', forget);
    this.#epmd = epmd;
  }

  /**
   * @returns {() => string | undefined} tells why the node has ended, undefined while it runs
   */
  #startServer() {
    const [file = '', ...parameters] = this.#command('rabbitmq-server');
    const output = openSync(this.#files.log, 'a');
    const server = spawn(file, parameters, {
      cwd: this.folder,
      env: this.#files.environment,
      stdio: ['ignore', output, output],
      detached: true,
    });
    closeSync(output);
    this.#server = server;
    /** @type {string | undefined} */
    let reason;
    server.once('error', (error) => {
      reason = error.message;
      this.#server = undefined;
    });
    server.once('exit', (code, signal) => {
      reason = `it ended with ${signal ?? `code ${code}`}\n${lastLines(readFileSync(this.#files.log, 'utf8'), 30)}`;
      this.#server = undefined;
    });
    return () => reason;
  }

  /**
   * @param {string} name
   * @returns {string[]}
   */
  #command(name) {
    const { commandPrefix = [], scripts } = this.#installation;
    return [...commandPrefix, join(scripts, name)];
  }
}

/**
 * Resolves when the process has ended, at once where there is none.
 *
 * @param {ChildProcess | undefined} child
 * @returns {Promise<void>}
 */
function ended(child) {
  return new Promise((resolve) => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
      resolve();
    } else {
      child.once('exit', () => resolve());
    }
  });
}

/**
 * Kills a process and those it started, unless they have ended already.
 *
 * @param {number} leader
 */
function killGroup(leader) {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) {
      throw error;
    }
  }
}
