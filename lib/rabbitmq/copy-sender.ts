import type { CopyResult, CopyTarget } from '../broker/port';
import { waitingDeclarationOf } from '../broker/queue-declarations';
import { type Clock, pause, within } from '../clock';
import type { Copy } from '../delivery/copy';
import { gridDelay, waitingQueueName } from '../delivery/waiting-queue';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import type { PublishResult } from './copy-channel';
import type { CopyConnection } from './copy-connection';
import { declareQueue, ensureDeadLetterQueue, onScratchChannel } from './topology';
import type { RawConnection } from './types';

const MOST_TRIES = 5;
const FIRST_PAUSE = 100;

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
    const deadline = this.clock.monotonic() + this.timeLimit;
    let last: unknown;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      if (tries > 0) await pause(this.clock, FIRST_PAUSE * 2 ** (tries - 1), original.lost);
      if (original.lost.aborted) return 'lost';
      const left = deadline - this.clock.monotonic();
      if (left <= 0) break;
      try {
        last = await this.#attempt(copy, target, original, left, tries > 0);
      } catch (error) {
        last = error;
      }
      if (last === 'confirmed') return 'confirmed';
      if (last === 'unencodable') return this.#withoutHeaders(copy, target, original);
    }
    if (original.lost.aborted) return 'lost';
    this.log.error('copy', messages.copyGivenUp(this.#queueOf(target, original), last), last);
    return 'failed';
  }

  async #attempt(
    copy: Copy,
    target: CopyTarget,
    original: Original,
    limitMs: number,
    again: boolean,
  ): Promise<PublishResult | 'blocked' | 'noConnection'> {
    const deadline = this.clock.monotonic() + limitMs;
    const left = (): number => Math.max(0, deadline - this.clock.monotonic());
    while (this.connection.isBlocked && left() > 0 && !original.lost.aborted) {
      await pause(this.clock, Math.min(FIRST_PAUSE, left()), original.lost);
    }
    if (this.connection.isBlocked) return 'blocked';
    await this.#ensureTarget(target, original, left, again);
    const channel = await this.connection.channel(left());
    if (channel === undefined) throw this.connection.lastError ?? new Error(messages.noConnection);
    let result: PublishResult = 'unknown';
    const published = channel.publish(this.#queueOf(target, original), copy).then((ended) => {
      result = ended;
    });
    await within(this.clock, left(), published, original.lost);
    return result;
  }

  // The application's own headers are what amqplib could not write; ours it can.
  async #withoutHeaders(copy: Copy, target: CopyTarget, original: Original): Promise<CopyResult> {
    const own = Object.entries(copy.headers).filter(([name]) => name.startsWith('x-settle-'));
    if (own.length === Object.keys(copy.headers).length) return 'failed';
    this.log.error('copy', messages.headersLeftOut(this.#queueOf(target, original)));
    return this.send({ ...copy, headers: Object.fromEntries(own) }, target, original);
  }

  #queueOf(target: CopyTarget, { queue }: Original): string {
    if (target.to === 'deadLetter') return this.subscription.deadLetter?.queue ?? '';
    if (target.delayMs === 0) return queue;
    return waitingQueueName(queue, this.subscription.queueType, gridDelay(target.delayMs));
  }

  async #ensureTarget(
    target: CopyTarget,
    original: Original,
    left: () => number,
    again: boolean,
  ): Promise<void> {
    const isWaiting = target.to === 'retryAddress' && target.delayMs > 0;
    const name = this.#queueOf(target, original);
    // What a subscription declares at its start is declared again only when a copy has failed.
    if (isWaiting ? this.#declared.has(name) && !again : !again) return;
    const connection = await this.connection.raw(left());
    if (connection === undefined)
      throw this.connection.lastError ?? new Error(messages.noConnection);
    this.#declared.delete(name);
    if (isWaiting) await this.#ensureWaitingQueue(connection, name, original, target.delayMs);
    else if (target.to === 'deadLetter') await ensureDeadLetterQueue(connection, this.subscription);
    else if (this.subscription.queue !== undefined) {
      await declareQueue(connection, this.subscription, this.log);
    }
    this.#declared.add(name);
  }

  async #ensureWaitingQueue(
    connection: RawConnection,
    name: string,
    { queue }: Original,
    delayMs: number,
  ): Promise<void> {
    const { declare, queueType } = this.subscription;
    const declaration = waitingDeclarationOf(queue, queueType, gridDelay(delayMs));
    await onScratchChannel(connection, async (channel) => {
      if (declare.waiting) await channel.assertQueue(name, declaration);
      else await channel.checkQueue(name);
    });
  }
}
