import { setMaxListeners } from 'node:events';
import type { HeldMessage, QueueClient, QueueSession } from '../amqp/queue-client';
import type { Clock } from '../clock';
import { type DescribedLetter, describeLetter } from './describe';
import type { RunEnd, ScanResult } from './results';
import type { Selection } from './selection';

/** How many selected messages are in the hands of the client at once. */
const WINDOW = 256;
/** How long an aborted run waits for what it has published, in ms. */
const ABORT_LIMIT = 2_000;

/** A selected message. Exactly one of `acknowledge` and `keep` of `held` is called. */
export interface Selected {
  readonly held: HeldMessage;
  readonly letter: DescribedLetter;
}

/** What a run does with the messages that it selects. */
export interface RunActions {
  /** Whether a message is passed over although it would be selected. */
  isPassedOver?(letter: DescribedLetter): boolean;
  /** Acts on a message; the next one is read when it resolves. Returns whether the run goes on. */
  act(selected: Selected): Promise<boolean> | boolean;
  /** Waits for what is under way. */
  finish?(): Promise<void>;
  /** Called after each message. */
  progress?(): void;
}

/** How a run has ended. */
export interface Ended {
  readonly ended: RunEnd;
  readonly error?: unknown;
}

/** How a run is timed and ended. */
export interface RunTerms {
  readonly clock: Clock;
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** Reads a queue from its head to the message that was last when it began, and acts on what is selected. */
export class SelectiveRun {
  #total = 0;
  #scanned = 0;
  #matched = 0;
  #kept = 0;
  /** Aborts when nothing more is to be done: its session has ended or was lost. */
  readonly #over = new AbortController();

  constructor(
    private readonly client: QueueClient,
    private readonly queue: string,
    private readonly selection: Selection,
    private readonly terms: RunTerms,
  ) {
    setMaxListeners(0, this.#over.signal);
  }

  get counts(): ScanResult {
    return {
      queue: this.queue,
      total: this.#total,
      scanned: this.#scanned,
      matched: this.#matched,
    };
  }

  /** Aborts once the messages of this run may not be published any more. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Holds a message until the end of the run. */
  keep({ held }: Pick<Selected, 'held'>): void {
    this.#kept += 1;
    held.keep();
  }

  /** Rejects if the queue does not exist or cannot be consumed; whatever fails later is in the result. */
  async start(actions: RunActions): Promise<Ended> {
    this.#total = (await this.client.counts(this.queue, true)).ready;
    if (this.#total === 0) return { ended: 'complete' };
    const limits = { most: this.#total, window: WINDOW, held: this.selection.scan };
    const session = await this.client.hold(this.queue, limits);
    const ended = await this.#ended(session, actions);
    this.#over.abort();
    await this.#finish(actions, undefined);
    const error = await session.end();
    return error === undefined || ended.ended === 'failed' ? ended : { ended: 'failed', error };
  }

  async #ended(session: QueueSession, actions: RunActions): Promise<Ended> {
    try {
      const ended = await this.#read(session, actions);
      await this.#finish(actions, ended === 'aborted' ? ABORT_LIMIT : undefined);
      return { ended };
    } catch (error) {
      return { ended: 'failed', error };
    }
  }

  // What is not confirmed when `over` aborts is not waited for.
  async #finish({ finish }: RunActions, limitMs: number | undefined): Promise<void> {
    if (finish === undefined) return;
    const timer =
      limitMs === undefined ? undefined : this.terms.clock.after(limitMs, () => this.#over.abort());
    await finish();
    timer?.cancel();
  }

  async #read(session: QueueSession, actions: RunActions): Promise<RunEnd> {
    const { selection } = this;
    const { signal } = this.terms;
    for (;;) {
      if (signal.aborted) return 'aborted';
      if (this.#matched >= selection.limit) return 'limit';
      if (selection.isFound) return 'complete';
      if (this.#kept >= selection.scan) return 'scan';
      const held = await session.next();
      if (held === undefined) return 'complete';
      this.#scanned += 1;
      const letter = describeLetter(held.message, this.queue);
      const isPassedOver = actions.isPassedOver?.(letter) ?? false;
      if (isPassedOver || !selection.takes(held.message, letter)) this.keep({ held });
      else {
        this.#matched += 1;
        if (!(await actions.act({ held, letter }))) return signal.aborted ? 'aborted' : 'target';
      }
      actions.progress?.();
    }
  }
}
