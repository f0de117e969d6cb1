import { Intake } from '../broker/intake';
import type { BrokerConsumer, ConsumerListener } from '../broker/port';
import { isAtLeast, type ServerVersion } from '../broker/queue-declarations';
import { sayVersionRemarks } from '../broker/version-checks';
import { type Clock, countdown, pause, resultWithin, within } from '../clock';
import { hasBrokerCount } from '../delivery/attempt';
import type { IncomingMessage } from '../delivery/message';
import { messages } from '../outcome/messages';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { diagnosed } from './acknowledgement-timeout';
import { ConsumerChannel } from './consumer-channel';
import type { CopySender } from './copy-sender';
import { type ManagedConnection, serverVersionOf } from './managed-connection';
import { RabbitDelivery, type SendCopy } from './rabbit-delivery';
import { forbidsAFeature, isRefusal } from './refusal';
import { declareTopology, onScratchChannel } from './topology';
import type { RawConnection } from './types';

const FIRST_PAUSE = 200;
const LONGEST_PAUSE = 30_000;
/** How long the first attempt may hold up the start of the application. */
const FIRST_ATTEMPT_LIMIT = 15_000;
const CLOSE_LIMIT = 1_000;

/** What a loop is made of. */
export interface LoopParts {
  readonly subscription: Subscription;
  readonly prefetch: number;
  readonly listener: ConsumerListener;
  readonly connection: ManagedConnection;
  readonly copies: CopySender;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  /** Resolves with the refusal where the server ends connections that declare this subscription. */
  tryAlone(signal: AbortSignal): Promise<Error | undefined>;
}

/**
 * The consumer of one subscription on RabbitMQ: one channel at a time. A closed channel, a cancel by the
 * server and a lost connection end in the same place: a pause of random length, then a new channel, and
 * everything declared again.
 */
export class ChannelLoop implements BrokerConsumer {
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;
  #channel: ConsumerChannel | undefined;
  #queue = '';
  #failures = 0;
  #counts: boolean;
  /** Whether the server tells how often it has handed a message out, attempts or not. */
  #tellsAcquired = false;
  #version: ServerVersion | undefined;
  /** Why the loop has ended for good, where it has. */
  #forbidden: Error | undefined;
  #change: Promise<Error | undefined> = Promise.resolve(undefined);
  readonly #intake: Intake;
  #firstAttempt: () => void = () => {};

  constructor(private readonly parts: LoopParts) {
    this.#counts = parts.subscription.queueType === 'quorum';
    this.#intake = new Intake(
      parts.clock,
      this.#closing.signal,
      () => this.#applyIntake(),
      (ms) => parts.log.warn('backOff', messages.intakePauses(ms)),
    );
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const first = new Promise<void>((resolve) => {
      this.#firstAttempt = resolve;
    });
    const isConnected = this.parts.connection.current !== undefined;
    this.#running = this.#run();
    if (isConnected) await within(this.parts.clock, FIRST_ATTEMPT_LIMIT, first);
  }

  pause(): Promise<void> {
    return this.#intake.pause();
  }

  resume(): void {
    this.#intake.resume();
    if (this.#forbidden !== undefined) this.parts.listener.refused(this.#forbidden);
  }

  backOff(): Promise<void> {
    return this.#intake.backOff();
  }

  async close(limitMs: number): Promise<void> {
    const { clock, log } = this.parts;
    const left = countdown(clock, limitMs);
    this.#closing.abort();
    await within(clock, left(), this.#applyIntake());
    await this.#channel?.close(left());
    if (this.#running !== undefined) await within(clock, left(), this.#running);
    log.flush();
  }

  async #run(): Promise<void> {
    const { connection, clock } = this.parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const raw = await connection.ready(signal);
      if (raw === undefined) break;
      const isOver = await this.#serve(raw);
      this.#firstAttempt();
      if (isOver) break;
      const longest = Math.min(FIRST_PAUSE * 2 ** this.#failures, LONGEST_PAUSE);
      this.#failures += 1;
      await pause(clock, longest * (0.5 + Math.random() / 2), signal);
    }
    this.#firstAttempt();
  }

  // One channel, from its opening to its end. Resolves with whether there is to be no other.
  async #serve(raw: RawConnection): Promise<boolean> {
    const { subscription, listener, log, clock } = this.parts;
    let channel: ConsumerChannel | undefined;
    try {
      this.#queue = await declareTopology(raw, subscription, log);
      this.#tellVersion(serverVersionOf(raw));
      channel = await ConsumerChannel.open(raw, (message) => this.#deliver(message), clock);
      this.#channel = channel;
      this.#closing.signal.throwIfAborted(); // Else nobody would close the channel any more.
      const refused = await this.#applyIntake();
      if (refused !== undefined) throw refused;
      if (!channel.isOpen) throw await channel.ended;
    } catch (error) {
      await channel?.close(CLOSE_LIMIT);
      if (this.#closing.signal.aborted) return true;
      // A channel that ends as soon as it consumes may have handed something out.
      if (channel !== undefined) listener.channelLost(error as Error);
      return this.#failed(raw, error as Error);
    }
    this.#firstAttempt();
    const ended = this.parts.connection.reasonOf(raw, await channel.ended);
    if (this.#closing.signal.aborted) return true;
    const reason = this.#diagnosed(raw, channel, ended);
    listener.channelLost(ended);
    log.error('channel', messages.channelLost(this.#queue, await reason));
    listener.reconnecting(await reason);
    return false;
  }

  #tellVersion(version: ServerVersion): void {
    this.#tellsAcquired = isAtLeast(version, [4, 3]);
    if (this.#version?.join() === version.join()) return;
    this.#version = version;
    sayVersionRemarks(this.parts.subscription, version, this.parts.log);
  }

  async #diagnosed(raw: RawConnection, channel: ConsumerChannel, reason: Error): Promise<Error> {
    const { subscription, listener, clock } = this.parts;
    const { oldest } = channel;
    const ageMs = oldest instanceof RabbitDelivery ? listener.ageOf(oldest) : 0;
    if (!(oldest instanceof RabbitDelivery) || ageMs === 0) return reason;
    const { messageId } = oldest.message.properties;
    return diagnosed(subscription, {
      reason,
      version: serverVersionOf(raw),
      oldest: { messageId, ageMs },
      queueExists: async () => {
        const asked = onScratchChannel(raw, (scratch) => scratch.checkQueue(this.#queue));
        return (await resultWithin(clock, CLOSE_LIMIT, asked)) !== undefined;
      },
    });
  }

  async #failed(raw: RawConnection, failure: Error): Promise<boolean> {
    const { listener, log, connection } = this.parts;
    const { signal } = this.#closing;
    const isSuspect = forbidsAFeature(connection.reasonOf(raw, failure));
    const forbidden = isSuspect ? await this.parts.tryAlone(signal) : undefined;
    if (signal.aborted) return true;
    this.#forbidden = forbidden;
    const error = forbidden ?? failure;
    const isRefused = forbidden !== undefined || isRefusal(failure);
    log.error('consume', messages.cannotConsume(this.parts.subscription.queue, error, isRefused));
    if (isRefused) listener.refused(error);
    else listener.reconnecting(error);
    return forbidden !== undefined;
  }

  /**
   * Makes the consumer be what is wished for: there, or cancelled. One change at a time. Resolves with
   * the error of a consume that the broker refused; that ends the channel as well.
   */
  #applyIntake(): Promise<Error | undefined> {
    this.#change = this.#change.then(async () => {
      try {
        await this.#changeIntake();
        return undefined;
      } catch (error) {
        return error as Error;
      }
    });
    return this.#change;
  }

  async #changeIntake(): Promise<void> {
    const channel = this.#channel;
    if (channel === undefined || !channel.isOpen) return;
    if (!this.#intake.isOpen) return channel.cancel();
    if (channel.isConsuming) return;
    const { subscription, prefetch, listener } = this.parts;
    const options = { ...subscription.queueOptions.consumerOptions, noAck: subscription.noAck };
    const isDrained = subscription.queueType === 'quorum' && !subscription.noAck;
    await channel.consume({ queue: this.#queue, prefetch, options, isDrained });
    this.#failures = 0;
    listener.consuming();
  }

  readonly #sendCopy: SendCopy = async (copy, target, { queue, channel: { lost } }) => {
    const result = await this.parts.copies.send(copy, target, { queue, lost });
    if (result === 'confirmed') this.#intake.copied();
    return result;
  };

  #deliver(message: IncomingMessage): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    const { subscription, listener, log } = this.parts;
    if (this.#counts && message.fields.redelivered && !hasBrokerCount(message)) {
      this.#counts = false;
      log.error('counts', messages.notCounting(this.#queue));
    }
    const delivery = new RabbitDelivery(
      message,
      this.#queue,
      this.#counts,
      this.#counts && this.#tellsAcquired,
      channel,
      this.#sendCopy,
    );
    if (!subscription.noAck) channel.arrived(delivery);
    listener.delivered(delivery);
  }
}
