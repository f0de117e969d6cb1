import { copyQueueOf, tryToSend } from '../broker/copy-tries';
import type { CopyResult, CopyTarget } from '../broker/port';
import { waitingDeclarationOf } from '../broker/queue-declarations';
import { type Clock, countdown, pause, resultWithin } from '../clock';
import type { Copy } from '../delivery/copy';
import { gridDelay } from '../delivery/waiting-queue';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { PublishResult } from './copy-channel';
import type { CopyConnection } from './copy-connection';
import { declareQueue, ensureDeadLetterQueue, onScratchChannel } from './topology';
import type { RawConnection } from './types';

/** How often it is looked whether the broker still blocks the connection, in ms. */
const LOOK_AGAIN = 100;

/** The original of a copy, as long as the copy makes sense. */
export interface Original {
  readonly queue: string;
  /** Aborts when the channel of the original is gone: the broker hands it out again. */
  readonly lost: AbortSignal;
}

/**
 * Sends the copies of one subscription: publishes to a queue and waits for the confirm. A copy that is
 * returned or refused was not sent: its target is declared again and the publish tried again, 5 times in
 * all, within the time limit. A copy without a confirm is unknown, not unsent: a second try may make a
 * duplicate. Nothing is published while the broker blocks the connection.
 */
export class CopySender {
  readonly #declared = new Set<string>();
  readonly #declaring = new Map<string, Promise<void>>();

  constructor(
    private readonly subscription: Subscription,
    private readonly connection: CopyConnection,
    private readonly log: SubscriptionLog,
    private readonly clock: Clock,
    /** In ms, for all tries together. */
    private readonly timeLimit: number,
  ) {}

  /** Never rejects. */
  async send(copy: Copy, target: CopyTarget, original: Original): Promise<CopyResult> {
    const queue = copyQueueOf(this.subscription, original.queue, target);
    const { result, last } = await tryToSend(
      this.clock,
      this.timeLimit,
      original.lost,
      (limitMs, again) => this.#attempt(copy, target, original, limitMs, again),
    );
    if (result === 'unencodable') return this.#withoutHeaders(copy, target, original);
    if (result === 'failed') this.log.error('copy', messages.copyGivenUp(queue, last), last);
    return result;
  }

  async #attempt(
    copy: Copy,
    target: CopyTarget,
    original: Original,
    limitMs: number,
    again: boolean,
  ): Promise<PublishResult | 'blocked'> {
    const left = countdown(this.clock, limitMs);
    while (this.connection.isBlocked && left() > 0 && !original.lost.aborted) {
      await pause(this.clock, Math.min(LOOK_AGAIN, left()), original.lost);
    }
    if (this.connection.isBlocked) return 'blocked';
    await this.#ensureTarget(target, original, left, again);
    const channel = await this.connection.channel(left());
    if (channel === undefined) throw this.connection.lastError ?? new Error(messages.noConnection);
    const queue = copyQueueOf(this.subscription, original.queue, target);
    const published = channel.publish(queue, copy);
    return (await resultWithin(this.clock, left(), published, original.lost)) ?? 'unknown';
  }

  // The application's own headers are what amqplib could not write; ours it can.
  async #withoutHeaders(copy: Copy, target: CopyTarget, original: Original): Promise<CopyResult> {
    const own = Object.entries(copy.headers).filter(([name]) => name.startsWith('x-settle-'));
    if (own.length === Object.keys(copy.headers).length) return 'failed';
    const queue = copyQueueOf(this.subscription, original.queue, target);
    this.log.error('copy', messages.headersLeftOut(queue));
    return this.send({ ...copy, headers: Object.fromEntries(own) }, target, original);
  }

  // What a subscription declares at its start is declared again only when a copy has failed; a waiting
  // queue on its first use, once for all copies that need it at the same time.
  async #ensureTarget(
    target: CopyTarget,
    { queue }: Original,
    left: () => number,
    again: boolean,
  ): Promise<void> {
    const isWaiting = target.to === 'retryAddress' && target.delayMs > 0;
    const name = copyQueueOf(this.subscription, queue, target);
    const isThere = !isWaiting || this.#declared.has(name);
    if (isThere && !again) return;
    const connection = await this.connection.raw(left());
    if (connection === undefined) {
      throw this.connection.lastError ?? new Error(messages.noConnection);
    }
    this.#declared.delete(name);
    const declaring =
      this.#declaring.get(name) ??
      this.#declare(connection, target, queue, name).finally(() => this.#declaring.delete(name));
    this.#declaring.set(name, declaring);
    await declaring;
    this.#declared.add(name);
  }

  async #declare(
    connection: RawConnection,
    target: CopyTarget,
    queue: string,
    name: string,
  ): Promise<void> {
    const { subscription } = this;
    const { declare, queueType } = subscription;
    if (target.to === 'deadLetter') return ensureDeadLetterQueue(connection, subscription);
    if (target.delayMs > 0) {
      const declaration = waitingDeclarationOf(queue, queueType, gridDelay(target.delayMs));
      await onScratchChannel(connection, async (channel) => {
        if (declare.waiting) await channel.assertQueue(name, declaration);
        else await channel.checkQueue(name);
      });
    } else if (subscription.queue !== undefined) {
      await declareQueue(connection, subscription, this.log);
    }
  }
}
