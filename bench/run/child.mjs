// @ts-check
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { programs } from '../programs.mjs';

/** @typedef {import('../programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('../programs/support/program.mjs').Told} Told */

const folder = new URL('../programs/', import.meta.url);
const packages = fileURLToPath(new URL('../node_modules', import.meta.url));

/** A program in a process of its own. What it writes is kept and told when it fails. */
export class Child {
  #process;
  #output = '';
  /** @type {Told[]} */
  #told = [];
  #label;
  #exit;

  /**
   * @param {ProgramLabel} label
   * @param {object} job
   * @param {string[]} [execArgv] for Node itself
   */
  constructor(label, job, execArgv = []) {
    this.#label = label;
    const file = fileURLToPath(new URL(`${label}.mjs`, folder));
    this.#process = fork(file, [JSON.stringify(job)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv,
      env: { ...process.env, ...(programs[label].nodePath && { NODE_PATH: packages }) },
    });
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        this.#output = (this.#output + text).slice(-4000);
      });
    }
    this.#process.on('message', (told) => this.#told.push(/** @type {Told} */ (told)));
    this.#exit = once(this.#process, 'close');
  }

  /**
   * What the program tells, whether it has told it already or not. Rejects when the program ends, or this takes too
   * long.
   *
   * @template {Told['kind']} Kind
   * @param {Kind} kind
   * @param {number} [withinMs]
   * @returns {Promise<Extract<Told, { kind: Kind }>>}
   */
  async told(kind, withinMs = 60_000) {
    const timeLimit = AbortSignal.timeout(withinMs);
    let running = true;
    const ended = this.#exit.then(() => {
      running = false;
    });
    for (;;) {
      const found = this.#told.find((one) => one.kind === kind);
      if (found !== undefined) return /** @type {Extract<Told, { kind: Kind }>} */ (found);
      if (!running) throw this.#failure(`ended before it told "${kind}"`);
      const message = once(this.#process, 'message', { signal: timeLimit });
      message.catch(() => {});
      await Promise.race([message, ended]).catch(() => {
        throw this.#failure(`did not tell "${kind}" within ${withinMs} ms`);
      });
    }
  }

  /**
   * @param {'start' | 'count' | 'finish' | 'end'} order
   */
  order(order) {
    this.#process.send(order);
  }

  /**
   * Lets the process end, which has told all there is to tell. Resolves when it has ended by itself, rejects where it
   * had to be killed.
   */
  async ended() {
    if (this.#process.connected) this.order('end');
    const timeLimit = AbortSignal.timeout(20_000);
    const late = once(timeLimit, 'abort').then(() => {
      this.kill();
      throw this.#failure('does not end');
    });
    const [code] = await Promise.race([this.#exit, late]);
    if (code !== 0) throw this.#failure(`ended with ${code ?? 'a signal'}`);
  }

  kill() {
    this.#process.kill('SIGKILL');
  }

  /**
   * @param {string} what
   * @returns {Error}
   */
  #failure(what) {
    return new Error(`the program ${this.#label} ${what}\n${this.#output}`);
  }
}
