import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { MixedLoadSettings } from '../../integration/fixtures/mixed-load';
import { until } from '../../support/eventually';
import type { Ledger } from './ledger';

/** Memory in use after a collection, and the listeners of the connection. */
export interface Sample {
  readonly heapUsed: number;
  readonly listeners: number;
}

/** One instance of the service, in a process of its own. */
export class Service {
  /** Lines of the log at the levels `warn` and `error`. */
  readonly log: string[] = [];
  /** Rejections and exceptions that nobody handled. */
  readonly unhandled: string[] = [];
  readonly samples: Sample[] = [];
  /** When it last began a run, in ms since the epoch. */
  lastRunAt = 0;
  readonly exit: Promise<number | NodeJS.Signals | null>;
  hasExited = false;
  isReady = false;
  readonly #process: ChildProcess;

  constructor(
    path: string,
    settings: MixedLoadSettings,
    readonly number: number,
    private readonly ledger: Ledger,
  ) {
    this.#process = spawn(process.execPath, ['--expose-gc', path], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, FIXTURE_SETTINGS: JSON.stringify(settings) },
    });
    const { stdin, stdout, stderr } = this.#process;
    stdin?.on('error', () => undefined);
    if (stdout) createInterface(stdout).on('line', (line) => this.#read(line));
    if (stderr) createInterface(stderr).on('line', (line) => this.unhandled.push(line));
    this.exit = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        this.hasExited = true;
        resolve(signal ?? code);
      });
    });
  }

  async ready(timeoutMs = 30_000): Promise<void> {
    await until(() => this.isReady || this.hasExited, { timeoutMs, what: 'the service to start' });
    if (!this.isReady) throw new Error(`the service ended as it started:\n${this.report()}`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Stands still for a while. */
  block(ms: number): void {
    this.#process.stdin?.write(`block ${ms}\n`);
  }

  async sample(): Promise<Sample | undefined> {
    const count = this.samples.length;
    this.#process.stdin?.write('sample\n');
    await until(() => this.samples.length > count || this.hasExited, { timeoutMs: 20_000 });
    return this.samples[count];
  }

  /** The end of its log, and what nobody handled. */
  report(): string {
    return [...this.log.slice(-30), ...this.unhandled].join('\n');
  }

  #read(line: string): void {
    const [what, first = '', second = '', third = ''] = line.split(' ');
    if (what === 'r') {
      this.lastRunAt = Number(third);
      const attempt = Number(second);
      this.ledger.began(Number(first), { attempt, at: this.lastRunAt, instance: this.number });
    } else if (what === 's') this.ledger.succeeded(Number(first), Number(second), this.number);
    else if (what === 'l') {
      if (first === 'log' || line.includes('[dead-lettered]')) return;
      this.log.push(JSON.parse(line.slice(`l ${first} `.length)) as string);
    } else if (what === 'm') {
      this.samples.push({ heapUsed: Number(first), listeners: Number(second) });
    } else if (what === 'ready') this.isReady = true;
    else this.unhandled.push(line);
  }
}
