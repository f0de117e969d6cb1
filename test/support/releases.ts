import type { ReleaseSettings } from '../integration/fixtures/release';
import { url } from './broker';
import { until } from './eventually';
import { ChildApp } from './process/child-app';

/** A message that a release has handled. */
export interface DoneMessage {
  readonly number: number;
  /** The queue it came from, or `golevelup`. */
  readonly from: string;
}

/** The releases of a service, running one after the other or side by side. */
export class Releases {
  readonly #children: ChildApp[] = [];

  constructor(
    private readonly path: string,
    private readonly exchange: string,
  ) {}

  /** Starts an instance of a release and waits until it consumes. */
  async start(settings: Omit<ReleaseSettings, 'url' | 'exchange'>): Promise<ChildApp> {
    const all: ReleaseSettings = { url, exchange: this.exchange, ...settings };
    const child = new ChildApp(this.path, { settings: all });
    this.#children.push(child);
    await child.waitFor('ready');
    return child;
  }

  /** The messages that all instances have handled, in chronological order. */
  get done(): DoneMessage[] {
    return this.#children
      .flatMap((child) => child.reported('done'))
      .sort((one, other) => one.at - other.at)
      .map(({ id, text = '' }) => ({ number: Number(id), from: text }));
  }

  /** Waits until each of these numbers is handled, and returns those handled more than once. */
  async allDone(numbers: readonly number[]): Promise<number[]> {
    const missing = () => {
      const done = new Set(this.done.map(({ number }) => number));
      return numbers.filter((number) => !done.has(number));
    };
    await until(() => missing().length === 0, {
      timeoutMs: 20_000,
      what: 'every message to be handled',
    }).catch((error: unknown) => {
      throw new Error(`lost: ${missing().join(', ')}`, { cause: error });
    });
    const times = new Map<number, number>();
    for (const { number } of this.done) times.set(number, (times.get(number) ?? 0) + 1);
    return numbers.filter((number) => (times.get(number) ?? 0) > 1);
  }
}

/** Stops an instance as a deployment does. */
export async function stop(child: ChildApp): Promise<void> {
  child.signal('SIGTERM');
  await child.exited();
}
