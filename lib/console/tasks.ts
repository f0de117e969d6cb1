import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import type { DiscardResult, ReplayProgress, ReplayResult } from '../dead-letters/results';
import { errorText } from '../log/format';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { DeadLetterQueue } from './dead-letter-queues';
import { EventStreams } from './event-streams';
import { QueueCountCache } from './queue-count-cache';
import { CONSOLE_CLOCK, CONSOLE_LOGGER } from './tokens';

/** How many tasks are shown. */
const MOST_TASKS = 20;

/** A replay or a discard that the page has started, running or ended. */
export interface TaskView {
  readonly id: number;
  readonly kind: 'replay' | 'discard';
  readonly queue: DeadLetterQueue;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly isRunning: boolean;
  /** How many messages it is about, as the dry run has counted; `undefined` if it is not known. */
  readonly expected: number | undefined;
  readonly progress: ReplayProgress | undefined;
  readonly result: object | undefined;
  /** Why it could not be carried out. */
  readonly error: string | undefined;
}

/** What a task does. */
export type TaskWork = (control: {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ReplayProgress) => void;
}) => Promise<ReplayResult | DiscardResult>;

/** The replays and discards that pages have started. */
@Injectable()
export class Tasks {
  readonly #tasks = new Map<number, TaskView>();
  readonly #controllers = new Map<number, AbortController>();
  #lastId = 0;

  constructor(
    private readonly streams: EventStreams,
    private readonly counts: QueueCountCache,
    @Inject(CONSOLE_CLOCK) private readonly clock: Clock,
    @Inject(CONSOLE_LOGGER) private readonly logger: LoggerService,
  ) {}

  /** The last tasks, the newest first. */
  get list(): readonly TaskView[] {
    return [...this.#tasks.values()].reverse();
  }

  /** Starts a task; it ends by itself. */
  start(
    { kind, queue, expected }: Pick<TaskView, 'kind' | 'queue' | 'expected'>,
    work: TaskWork,
  ): TaskView {
    this.#lastId += 1;
    const id = this.#lastId;
    const task: TaskView = {
      ...{ id, kind, queue, expected },
      startedAt: new Date(this.clock.now()).toISOString(),
      ...{ isRunning: true, progress: undefined, result: undefined, error: undefined },
    };
    this.#publish(task);
    this.#forgetOldest();
    void this.#run(task, work);
    return task;
  }

  /** Returns whether such a task is running. */
  cancel(id: unknown): boolean {
    const controller = typeof id === 'number' ? this.#controllers.get(id) : undefined;
    controller?.abort();
    return controller !== undefined;
  }

  async #run(task: TaskView, work: TaskWork): Promise<void> {
    const controller = new AbortController();
    this.#controllers.set(task.id, controller);
    let last = task;
    const onProgress = (progress: ReplayProgress): void => {
      last = { ...task, progress };
      this.#publish(last);
    };
    try {
      const result = await work({ signal: controller.signal, onProgress });
      this.#end({ ...last, result: viewOf(result) });
      const { kind, queue } = task;
      const count = 'replayed' in result ? result.replayed : result.discarded;
      const text = texts.consoleTaskEnded(kind, queue.name, count, result.ended, result.error);
      writeLine(this.logger, 'console', text);
    } catch (error) {
      this.#end({ ...last, error: errorText(error) });
      writeLine(this.logger, 'console', texts.consoleTaskFailed(task.kind, task.queue.name, error));
    }
  }

  #end(task: TaskView): void {
    this.#controllers.delete(task.id);
    this.counts.forget(task.queue.name);
    this.#publish({ ...task, isRunning: false });
  }

  #publish(task: TaskView): void {
    this.#tasks.set(task.id, task);
    this.streams.send('task', task);
  }

  #forgetOldest(): void {
    for (const { id, isRunning } of this.#tasks.values()) {
      if (this.#tasks.size <= MOST_TASKS) return;
      if (!isRunning) this.#tasks.delete(id);
    }
  }
}

/** A result as JSON can carry it. */
export function viewOf(result: ReplayResult | DiscardResult): object {
  const { error, ...rest } = result;
  return error === undefined ? rest : { ...rest, error: errorText(error) };
}
