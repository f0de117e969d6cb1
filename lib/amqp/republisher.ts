import { type Clock, countdown, resultWithin, sleep, within } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import { RepublishError } from '../model/errors';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { RepublishResult, RepublishTarget } from './port';
import { type Publish, targetQueueOf, tryToPublish } from './republish-attempts';
import type { Plan, TryResult } from './republish-judgement';
import type { RepublishTransport } from './republish-transport';
import { declareQueue, ensureDeadLetterQueue } from './topology';
import type { TopologyClient } from './topology-client';
import { delaysAtStartup, ensureWaitingQueue, waitingQueueOf } from './waiting-queues';
import { type LeftOut, writableMessage } from './writable-message';

/** How often a blocked connection is looked at again, in ms. */
const BLOCKED_INTERVAL = 100;

/** The delivery whose message is published. */
export interface Original {
  readonly queue: string;
  /** Aborts when the channel of the delivery closes: the broker will redeliver it. */
  readonly lost: AbortSignal;
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
  readonly #declaring = new Map<string, Promise<void>>();
  /** The queues that refused a whole message and took it when it was plain. */
  readonly #plainQueues = new Set<string>();

  constructor(
    private readonly subscription: SubscriptionMetadata,
    private readonly transport: RepublishTransport,
    private readonly log: SubscriptionLog,
    private readonly clock: Clock,
    /** In ms, for all tries of one message together. */
    private readonly timeLimit: number,
  ) {}

  /** Never rejects. */
  async publish(
    message: OutgoingMessage,
    target: RepublishTarget,
    original: Original,
  ): Promise<RepublishResult> {
    const { clock, timeLimit } = this;
    const queue = targetQueueOf(this.subscription, original.queue, target);
    let leftOut: LeftOut | undefined;
    const publish: Publish = async (plan, limitMs, isRetry) => {
      const left = countdown(clock, limitMs);
      while (this.transport.isBlocked && left() > 0 && !original.lost.aborted) {
        await sleep(clock, Math.min(BLOCKED_INTERVAL, left()), original.lost);
      }
      if (this.transport.isBlocked) return { status: 'blocked' };
      await this.#ensureTarget(target, original, left, isRetry);
      const write = (limits: Parameters<typeof writableMessage>[1]): OutgoingMessage => {
        const writable = writableMessage(message, limits, plan.form);
        leftOut = writable.leftOut;
        return writable.message;
      };
      return this.#publish(queue, write, plan, left, original.lost);
    };
    const form = this.#plainQueues.has(queue) ? 'plain' : 'whole';
    const first: Plan = { form, isAlone: false };
    const tried = await tryToPublish(clock, timeLimit, original.lost, publish, first);
    if (tried.status !== 'confirmed') return tried;
    const { plan, refusal } = tried;
    if (refusal !== undefined && plan.form === 'plain') this.#plainQueues.add(queue);
    return { status: 'confirmed', reduced: leftOut && { leftOut, refusal } };
  }

  async #publish(
    queue: string,
    message: Parameters<RepublishTransport['write']>[1],
    { isAlone }: Plan,
    left: () => number,
    lost: AbortSignal,
  ): Promise<TryResult> {
    const limitMs = left();
    // The connection can lead to another broker by now.
    if (limitMs <= 0 || lost.aborted) {
      throw new RepublishError(texts.noTimeToRepublish, { scope: 'broker' });
    }
    const written = await this.transport.write(queue, message, { limitMs, isAlone, lost });
    try {
      const result = await resultWithin(this.clock, left(), written.result, lost);
      return result ?? { status: 'unconfirmed' };
    } finally {
      written.end();
    }
  }

  // What a subscription declares at startup is declared again only after a failed publish; another waiting
  // queue on its first use, once for all messages that need it at the same time.
  async #ensureTarget(
    target: RepublishTarget,
    { queue, lost }: Original,
    left: () => number,
    isRetry: boolean,
  ): Promise<void> {
    const delayMs = target.to === 'retry' ? target.delayMs : 0;
    const name = targetQueueOf(this.subscription, queue, target);
    const isAtStartup = delayMs === 0 || delaysAtStartup(this.subscription).has(delayMs);
    const isThere = isAtStartup || this.#declared.has(name);
    if (isThere && !isRetry) return;
    const client = await this.transport.topology(left());
    this.#declared.delete(name);
    const declaring =
      this.#declaring.get(name) ??
      this.#declare(client, target, queue).finally(() => this.#declaring.delete(name));
    this.#declaring.set(name, declaring);
    // A blocked connection does not answer.
    if (!(await within(this.clock, left(), declaring, lost))) {
      throw new RepublishError(texts.notDeclaredInTime(name), { scope: 'broker' });
    }
    await declaring;
    this.#declared.add(name);
  }

  async #declare(client: TopologyClient, target: RepublishTarget, queue: string): Promise<void> {
    const { subscription } = this;
    if (target.to === 'deadLetter') return ensureDeadLetterQueue(client, subscription);
    if (target.delayMs > 0) {
      const waiting = waitingQueueOf(subscription, queue, target.delayMs);
      return ensureWaitingQueue(client, subscription, waiting);
    }
    if (subscription.queue !== undefined) await declareQueue(client, subscription, this.log);
  }
}
