import { copyQueueOf, tryToSend } from '../broker/copy-tries';
import { Intake } from '../broker/intake';
import type {
  BrokerConsumer,
  BrokerDelivery,
  ConsumerListener,
  CopyResult,
  CopyTarget,
  Frame,
  Written,
} from '../broker/port';
import { isAtLeast, waitingDeclarationOf } from '../broker/queue-declarations';
import { sayVersionRemarks } from '../broker/version-checks';
import { type Clock, pause, resultWithin } from '../clock';
import { acquiredOf, hasBrokerCount } from '../delivery/attempt';
import type { Copy } from '../delivery/copy';
import { SettleHeaders } from '../delivery/headers';
import type { IncomingMessage } from '../delivery/message';
import { gridDelay } from '../delivery/waiting-queue';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { MemoryChannel } from './memory-channel';
import {
  declareMemoryTopology,
  ensureMemoryDeadLetterQueue,
  type MemoryClient,
} from './memory-topology';
import { ServerError } from './server-error';

const REOPENING_PAUSE = 100;

/** What a consumer in memory is made of. */
export interface MemoryConsumerParts {
  readonly client: MemoryClient;
  readonly subscription: Subscription;
  readonly prefetch: number;
  readonly listener: ConsumerListener;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  readonly copyTimeout: number;
}

/** The consumer of one subscription on the server in memory: one channel at a time, as on RabbitMQ. */
export class MemoryConsumer implements BrokerConsumer {
  readonly #closing = new AbortController();
  readonly #intake: Intake;
  #channel: MemoryChannel | undefined;
  #queue = '';
  #copies = 0;
  #running = false;
  #counts: boolean;

  constructor(private readonly parts: MemoryConsumerParts) {
    this.#counts = parts.subscription.queueType === 'quorum';
    this.#intake = new Intake(
      parts.clock,
      this.#closing.signal,
      async () => this.#apply(),
      (ms) => parts.log.warn('backOff', messages.intakePauses(ms)),
    );
  }

  /** The channel that is open now; for tests that let it die. */
  get channel(): MemoryChannel | undefined {
    return this.#channel;
  }

  /** The queue that is consumed, also where the server gave it its name. */
  get queue(): string {
    return this.#queue;
  }

  get subscription(): Subscription {
    return this.parts.subscription;
  }

  async start(): Promise<void> {
    if (this.#running || this.#closing.signal.aborted) return;
    this.#running = true;
    const { subscription, client, log } = this.parts;
    sayVersionRemarks(subscription, client.server.version, log);
    this.#open();
  }

  pause(): Promise<void> {
    return this.#intake.pause();
  }

  resume(): void {
    this.#intake.resume();
  }

  backOff(): Promise<void> {
    return this.#intake.backOff();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#channel?.close();
    this.parts.log.flush();
  }

  #open(): void {
    const { subscription, listener, log, client } = this.parts;
    try {
      this.#queue = declareMemoryTopology(client, subscription, log);
    } catch (error) {
      // What another connection holds for itself is taken, not refused: it may be free later.
      const isRefused = !(error instanceof ServerError && error.code === 405);
      log.error('consume', messages.cannotConsume(subscription.queue, error, isRefused));
      if (isRefused) listener.refused(error as Error);
      else listener.reconnecting(error as Error);
      void this.#reopen();
      return;
    }
    this.#channel = new MemoryChannel(client.server.queue(this.#queue), this.parts.prefetch, {
      noAck: subscription.noAck,
      delivered: (message, channel) => this.#deliver(message, channel),
      ended: (reason) => this.#ended(reason),
    });
    this.#apply();
  }

  #ended(reason: Error): void {
    this.#channel = undefined;
    if (this.#closing.signal.aborted) return;
    const { listener, log } = this.parts;
    log.error('channel', messages.channelLost(this.#queue, reason));
    listener.channelLost(reason);
    listener.reconnecting(reason);
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    await pause(this.parts.clock, REOPENING_PAUSE, this.#closing.signal);
    if (!this.#closing.signal.aborted) this.#open();
  }

  #apply(): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    if (!this.#intake.isOpen) return channel.cancel();
    if (channel.isConsuming) return;
    try {
      channel.consume();
    } catch (error) {
      return channel.die(error as Error); // The queue has gone with its last consumer.
    }
    this.parts.listener.consuming();
  }

  #deliver(message: IncomingMessage, channel: MemoryChannel): void {
    const { listener, log } = this.parts;
    if (this.#counts && message.fields.redelivered && !hasBrokerCount(message)) {
      this.#counts = false;
      log.error('counts', messages.notCounting(this.#queue));
    }
    const delivery: BrokerDelivery = {
      message,
      queue: this.#queue,
      counts: this.#counts,
      acquired: this.#counts ? this.#acquiredOf(message) : 0,
      settle: (frame: Frame, written: Written) =>
        written(channel.settle(message.fields.deliveryTag, frame)),
      leave: () => channel.leave(message.fields.deliveryTag),
      copy: (copy, target) => this.#send(copy, target, channel.lost),
    };
    listener.delivered(delivery);
  }

  #acquiredOf(message: IncomingMessage): number {
    return isAtLeast(this.parts.client.server.version, [4, 3]) ? acquiredOf(message) : 0;
  }

  async #send(copy: Copy, target: CopyTarget, lost: AbortSignal): Promise<CopyResult> {
    const { client, subscription, clock, log, copyTimeout } = this.parts;
    const queue = copyQueueOf(subscription, this.#queue, target);
    const { result, last } = await tryToSend(clock, copyTimeout, lost, async (limitMs, again) => {
      this.#ensureTarget(target, queue, again);
      this.#copies += 1;
      const headers = { ...copy.headers, [SettleHeaders.copy]: this.#copies };
      const published = client.server.confirm(queue, { ...copy, headers });
      return (await resultWithin(clock, limitMs, published, lost)) ?? 'unknown';
    });
    if (result === 'confirmed') this.#intake.copied();
    if (result === 'failed') log.error('copy', messages.copyGivenUp(queue, last), last);
    return result === 'unencodable' ? 'failed' : result;
  }

  #ensureTarget(target: CopyTarget, queue: string, again: boolean): void {
    const { client, subscription } = this.parts;
    const { server } = client;
    if (target.to === 'deadLetter') {
      if (again) ensureMemoryDeadLetterQueue(server, subscription);
      return;
    }
    if (target.delayMs === 0) return;
    const delay = gridDelay(target.delayMs);
    const declaration = waitingDeclarationOf(this.#queue, subscription.queueType, delay);
    if (subscription.declare.waiting) server.declareQueue(queue, declaration);
    else server.queue(queue);
  }
}
