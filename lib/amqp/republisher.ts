import { type Clock, countdown, sleep, within } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { RepublishError } from '../model/errors';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { type ConsumedSubscription, methodsOf } from './consumed-subscription';
import type { RepublishResult, RepublishTarget } from './port';
import { type Publish, targetQueueOf, tryToPublish } from './republish-attempts';
import type { Plan, TryResult } from './republish-judgement';
import type { RepublishTransport } from './republish-transport';
import { declareQueue, ensureDeadLetterQueue } from './topology';
import type { TopologyClient } from './topology-client';
import { delaysAtStartup, ensureWaitingQueue, waitingQueueOf } from './waiting-queues';
import { type LeftOut, type WriteLimits, writableMessage } from './writable-message';

/** How often a blocked connection is checked, in ms. */
const BLOCKED_INTERVAL = 100;

/** The delivery whose message is published. */
export interface Original {
  readonly queue: string;
  /** Aborts when the channel of the delivery closes: the broker will redeliver it. */
  readonly lost: AbortSignal;
}

/** A message that is being published. */
interface Job {
  readonly message: OutgoingMessage;
  readonly target: RepublishTarget;
  readonly original: Original;
  readonly queue: string;
  /** What the last try left out. */
  leftOut: LeftOut | undefined;
}

/** Publishes the message of a delivery. Never rejects. */
export type Republish = (
  message: OutgoingMessage,
  target: RepublishTarget,
  original: Original,
) => Promise<RepublishResult>;

/**
 * Publishes the messages of one subscription to its own queue, its waiting queues and its dead-letter
 * queue, and waits for the confirm. A message that is returned or refused was not published: its target
 * is declared again and the publish tried again, 5 times in all, within the time limit. A message
 * without a confirm is unknown, not unsent: another try can make a duplicate. Nothing is published
 * while the broker blocks the connection, or once the time limit is over.
 */
export class Republisher {
  readonly #declared = new Set<string>();
  /** By the subscription of each method. */
  readonly #delaysAtStartup: ReadonlyMap<SubscriptionMetadata, ReadonlySet<number>>;
  readonly #declaring = new Map<string, Promise<void>>();
  /** The queues that refused a whole message and took it when it was plain. */
  readonly #plainQueues = new Set<string>();

  constructor(
    private readonly subscription: ConsumedSubscription,
    private readonly transport: RepublishTransport,
    private readonly log: SubscriptionLog,
    private readonly clock: Clock,
    /** In ms, for all tries of one message together. */
    private readonly timeLimit: number,
  ) {
    this.#delaysAtStartup = new Map(
      methodsOf(subscription).map((method) => [method, delaysAtStartup(method)]),
    );
  }

  /** Never rejects. */
  publish(
    message: OutgoingMessage,
    target: RepublishTarget,
    original: Original,
  ): Promise<RepublishResult> {
    const { subscription = this.subscription } = target;
    const queue = targetQueueOf(subscription, original.queue, target);
    const job: Job = { message, target, original, queue, leftOut: undefined };
    const form = this.#plainQueues.has(queue) ? 'plain' : 'whole';
    const plan: Plan = { form, isAlone: false };
    const left = countdown(this.clock, this.timeLimit);
    const atOnce = this.#tryAtOnce(job, plan);
    if (atOnce === undefined) return this.#tryInTime(job, plan, left());
    return atOnce.then((result) =>
      result.status === 'confirmed'
        ? confirmed(job, undefined)
        : this.#tryInTime(job, plan, left(), result),
    );
  }

  // Most messages can be written without waiting, which costs a third less processor time than a try in time.
  #tryAtOnce(job: Job, plan: Plan): Promise<TryResult> | undefined {
    const { transport, timeLimit } = this;
    const { lost } = job.original;
    if (transport.isBlocked || lost.aborted || !this.#isThere(job)) return undefined;
    try {
      return transport.writeAtOnce(job.queue, writerOf(job, plan), { limitMs: timeLimit, lost });
    } catch {
      return undefined; // Nothing was written: the next try says why not.
    }
  }

  async #tryInTime(
    job: Job,
    first: Plan,
    limitMs: number,
    ended?: TryResult,
  ): Promise<RepublishResult> {
    const { clock } = this;
    const { lost } = job.original;
    const publish: Publish = async (plan, limitMs, isRetry) => {
      const left = countdown(clock, limitMs);
      while (this.transport.isBlocked && left() > 0 && !lost.aborted) {
        await sleep(clock, Math.min(BLOCKED_INTERVAL, left()), lost);
      }
      if (this.transport.isBlocked) return { status: 'blocked' };
      if (isRetry || !this.#isThere(job)) await this.#ensureTarget(job, left);
      return this.#publish(job, plan, left());
    };
    const tried = await tryToPublish(clock, limitMs, lost, publish, first, ended);
    if (tried.status !== 'confirmed') return tried;
    const { plan, refusal } = tried;
    if (refusal !== undefined && plan.form === 'plain') this.#plainQueues.add(job.queue);
    return confirmed(job, refusal);
  }

  async #publish(job: Job, plan: Plan, limitMs: number): Promise<TryResult> {
    const { isAlone } = plan;
    const { lost } = job.original;
    // The connection can lead to another broker by now.
    if (limitMs <= 0 || lost.aborted) {
      throw new RepublishError(texts.noTimeToRepublish, { scope: 'broker' });
    }
    const limits = { limitMs, isAlone, lost };
    const written = await this.transport.write(job.queue, writerOf(job, plan), limits);
    try {
      return await written.result;
    } finally {
      written.end();
    }
  }

  // What a subscription declares at startup is there; another waiting queue once it has been declared.
  #isThere({ queue, target }: Job): boolean {
    if (target.to === 'deadLetter' || target.delayMs === 0) return true;
    const { subscription = this.subscription } = target;
    const isAtStartup = this.#delaysAtStartup.get(subscription)?.has(target.delayMs) === true;
    return isAtStartup || this.#declared.has(queue);
  }

  // Declared again only after a failed publish, once for all messages that need it at the same time.
  async #ensureTarget({ queue: name, target, original }: Job, left: () => number): Promise<void> {
    const client = await this.transport.topology(left());
    this.#declared.delete(name);
    const declaring =
      this.#declaring.get(name) ??
      this.#declare(client, target, original.queue).finally(() => this.#declaring.delete(name));
    this.#declaring.set(name, declaring);
    // A blocked connection does not answer.
    if (!(await within(this.clock, left(), declaring, original.lost))) {
      throw new RepublishError(texts.notDeclaredInTime(name), { scope: 'broker' });
    }
    await declaring;
    this.#declared.add(name);
  }

  async #declare(client: TopologyClient, target: RepublishTarget, queue: string): Promise<void> {
    const { subscription = this.subscription } = target;
    if (target.to === 'deadLetter') return ensureDeadLetterQueue(client, subscription);
    if (target.delayMs > 0) {
      const waiting = waitingQueueOf(subscription, queue, target.delayMs);
      return ensureWaitingQueue(client, subscription, waiting);
    }
    if (subscription.queue !== undefined) await declareQueue(client, subscription, this.log);
  }
}

// Made for each try: what fits can differ from one connection to the next.
function writerOf(job: Job, { form }: Plan): (limits: WriteLimits) => OutgoingMessage {
  return (limits) => {
    const { message, leftOut } = writableMessage(job.message, limits, form);
    job.leftOut = leftOut;
    return message;
  };
}

function confirmed({ leftOut }: Job, refusal: RepublishError | undefined): RepublishResult {
  return { status: 'confirmed', reduced: leftOut && { leftOut, refusal } };
}
