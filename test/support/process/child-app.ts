import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach } from 'vitest';
import type { FixtureEvent } from '../../integration/fixtures/report';
import { until } from '../eventually';

/** How a child process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  /** What the application reads with `settings()`. */
  readonly settings: object;
  /** Precedes `node` on the command line. */
  readonly wrapper?: readonly string[];
}

const running = new Set<ChildApp>();

afterEach(async () => {
  for (const child of running) await child.kill();
});

/** An application in a process of its own; it is killed after the test. */
export class ChildApp {
  /** The events that the application reported, in order. */
  readonly events: FixtureEvent[] = [];
  /** Its other output. */
  readonly output: string[] = [];
  readonly exit: Promise<Exit>;
  readonly #process: ChildProcess;

  constructor(path: string, { settings, wrapper = [] }: ChildOptions) {
    const [command = process.execPath, ...args] = [...wrapper, process.execPath, path];
    this.#process = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, FIXTURE_SETTINGS: JSON.stringify(settings) },
    });
    running.add(this);
    const { stdout, stderr } = this.#process;
    if (stdout) createInterface(stdout).on('line', (line) => this.#read(line));
    if (stderr) createInterface(stderr).on('line', (line) => this.output.push(line));
    this.exit = new Promise((resolve) => {
      this.#process.once('close', (code, signal) => {
        running.delete(this);
        resolve({ code, signal });
      });
    });
  }

  /** The reported events of a name. */
  reported(event: string): FixtureEvent[] {
    return this.events.filter((one) => one.event === event);
  }

  /** Waits until an event was reported so many times. */
  async waitFor(event: string, count = 1, timeoutMs = 20_000): Promise<void> {
    const missing = (): string => `${count} of "${event}"; reported: ${this.#reportedNames()}`;
    await until(() => this.reported(event).length >= count, { timeoutMs }).catch(() => {
      throw new Error(`timed out waiting for ${missing()}\n${this.output.join('\n')}`);
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Waits for the process to exit by itself, and fails if it does not. */
  async exited(timeoutMs = 20_000): Promise<Exit> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      const text = (): string => `the process is still running; reported: ${this.#reportedNames()}`;
      timer = setTimeout(
        () => reject(new Error(`${text()}\n${this.output.join('\n')}`)),
        timeoutMs,
      );
    });
    return Promise.race([this.exit, late]).finally(() => clearTimeout(timer));
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exit;
  }

  #reportedNames(): string {
    return this.events.map(({ event }) => event).join(', ');
  }

  #read(line: string): void {
    if (line.startsWith('{"event":')) this.events.push(JSON.parse(line) as FixtureEvent);
    else this.output.push(line);
  }
}
