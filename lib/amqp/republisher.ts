import { type Clock, countdown, resultWithin, sleep } from '../clock';
import type { OutgoingMessage } from '../delivery/republish';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { RepublishResult, RepublishTarget } from './port';
import { type Publish, targetQueueOf, tryToPublish } from './republish-attempts';
import { declareQueue, ensureDeadLetterQueue } from './topology';
import type { TopologyClient } from './topology-client';
import { delaysAtStartup, ensureWaitingQueue, waitingQueueOf } from './waiting-queues';

/** How often a blocked connection is looked at again, in ms. */
const BLOCKED_INTERVAL = 100;

/** What became of one publish. */
export type PublishResult = 'confirmed' | 'returned' | 'refused' | 'unknown' | 'unencodable';

/** A connection that messages are published on. */
export interface RepublishTransport {
  /** Whether the broker has blocked the connection (memory or disk alarm). */
  readonly isBlocked: boolean;
  /** Rejects if there is no connection within `limitMs`. */
  topology(limitMs: number): Promise<TopologyClient>;
  /**
   * Publishes a mandatory message to a queue through the default exchange and waits for the confirm.
   * Rejects if there is no connection within `limitMs`.
   */
  publish(queue: string, message: OutgoingMessage, limitMs: number): Promise<PublishResult>;
}

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
 * while the broker blocks the connection.
 */
export class Republisher {
  readonly #declared = new Set<string>();
  readonly #declaring = new Map<string, Promise<void>>();

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
    const attempt: Publish = (limitMs, isRetry) =>
      this.#attempt(message, target, original, limitMs, isRetry);
    const { clock, timeLimit } = this;
    const result = await tryToPublish(clock, timeLimit, original.lost, attempt);
    if (result.status !== 'unencodable') return result;
    return this.#withoutHeaders(message, target, original);
  }

  async #attempt(
    message: OutgoingMessage,
    target: RepublishTarget,
    original: Original,
    limitMs: number,
    isRetry: boolean,
  ): Promise<PublishResult | 'blocked'> {
    const { transport, clock } = this;
    const left = countdown(clock, limitMs);
    while (transport.isBlocked && left() > 0 && !original.lost.aborted) {
      await sleep(clock, Math.min(BLOCKED_INTERVAL, left()), original.lost);
    }
    if (transport.isBlocked) return 'blocked';
    await this.#ensureTarget(target, original, left, isRetry);
    // The connection may lead to another broker by now.
    if (original.lost.aborted) return 'unknown';
    const queue = targetQueueOf(this.subscription, original.queue, target);
    const published = transport.publish(queue, message, left());
    return (await resultOrError(clock, left(), published, original.lost)) ?? 'unknown';
  }

  // Only application headers can be unencodable; retry with the library's headers alone.
  async #withoutHeaders(
    message: OutgoingMessage,
    target: RepublishTarget,
    original: Original,
  ): Promise<RepublishResult> {
    const own = Object.entries(message.headers).filter(([name]) => name.startsWith('x-settle-'));
    if (own.length === Object.keys(message.headers).length) {
      return { status: 'failed', tries: 1, error: 'unencodable' };
    }
    const queue = targetQueueOf(this.subscription, original.queue, target);
    this.log.write('headers-dropped', texts.headersLeftOut(queue));
    return this.publish({ ...message, headers: Object.fromEntries(own) }, target, original);
  }

  // What a subscription declares at startup is declared again only after a failed publish; another waiting
  // queue on its first use, once for all messages that need it at the same time.
  async #ensureTarget(
    target: RepublishTarget,
    { queue }: Original,
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

// As resultWithin, but what the publish rejects with is the error of this try.
async function resultOrError<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  let failure: { readonly error: unknown } | undefined;
  const watched = work.catch((error: unknown) => {
    failure = { error };
    throw error;
  });
  const result = await resultWithin(clock, ms, watched, signal);
  if (failure !== undefined) throw failure.error;
  return result;
}
