import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import { ConsumerGate } from '../amqp/consumer-gate';
import type { BrokerConsumer, ConsumerListener, Intake } from '../amqp/port';
import { RedeliveryCounting } from '../amqp/redelivery-counting';
import { forbidsAFeature, isRefusal } from '../amqp/refusal';
import type { Republisher } from '../amqp/republisher';
import { declareTopology } from '../amqp/topology';
import { logVersionWarnings } from '../amqp/version-checks';
import { type Clock, countdown, sleep, within } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { channelEndReason } from './channel-end';
import { type ConsumeOptions, ConsumerChannel } from './consumer-channel';
import { type ManagedConnection, serverVersionOf } from './managed-connection';
import { RabbitMQDelivery } from './rabbitmq-delivery';
import { ReconnectPause } from './reconnect-pause';
import { topologyClientOf } from './scratch-channel';
import { SlowStart } from './slow-start';
import type { RawConnection } from './types';

/** How long the first attempt may hold up the start of the application. */
const FIRST_ATTEMPT_LIMIT = 15_000;
const CLOSE_LIMIT = 1_000;

/** What a channel loop is made of. */
export interface ChannelLoopDependencies {
  readonly subscription: ConsumedSubscription;
  readonly prefetch: number;
  readonly consumeOptions: ConsumeOptions['options'];
  readonly listener: ConsumerListener;
  readonly connection: ManagedConnection;
  readonly republisher: Republisher;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  /** Resolves with the refusal if the server closes connections that declare this subscription. */
  probeDeclaration(signal: AbortSignal): Promise<Error | undefined>;
  /** Called each time it consumes. */
  checkRights(): void;
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
  readonly #pause = new ReconnectPause();
  readonly #counting: RedeliveryCounting;
  /** The last channel that was closed to return what it held. */
  #returned: ConsumerChannel | undefined;
  /** When the last channel was lost, on the monotonic scale; `undefined` while consuming. */
  #lostAt: number | undefined;
  /** Why the loop has ended for good, where it has. */
  #forbidden: Error | undefined;
  #change: Promise<Error | undefined> = Promise.resolve(undefined);
  readonly #gate: ConsumerGate;
  readonly #slowStart: SlowStart;
  #firstAttempt: () => void = () => {};

  constructor(private readonly dependencies: ChannelLoopDependencies) {
    const { subscription, listener, log } = dependencies;
    const apply = (): Promise<unknown> => this.#applyGate();
    this.#counting = new RedeliveryCounting(subscription.queueType, log);
    this.#gate = new ConsumerGate({
      ...dependencies,
      closing: this.#closing.signal,
      apply,
      delivered: (delivery) => listener.delivered(delivery),
    });
    this.#slowStart = new SlowStart({
      ...dependencies,
      apply,
      delivered: (delivery) => this.#gate.delivered(delivery),
    });
  }

  async start(): Promise<void> {
    if (this.#running !== undefined) return;
    const first = new Promise<void>((resolve) => {
      this.#firstAttempt = resolve;
    });
    const isConnected = this.dependencies.connection.current !== undefined;
    this.#running = this.#run();
    if (isConnected) await within(this.dependencies.clock, FIRST_ATTEMPT_LIMIT, first);
  }

  async take(intake: Intake): Promise<void> {
    await this.#gate.take(intake);
    if (this.#forbidden !== undefined) this.dependencies.listener.refused(this.#forbidden);
  }

  stop(): Promise<void> {
    return this.#gate.stop();
  }

  async close(limitMs: number): Promise<void> {
    const { clock, log } = this.dependencies;
    const left = countdown(clock, limitMs);
    this.#closing.abort();
    await within(clock, left(), this.#gate.close());
    this.#slowStart.requeue();
    await this.#channel?.close(left());
    if (this.#running !== undefined) await within(clock, left(), this.#running);
    log.flush();
  }

  async #run(): Promise<void> {
    const { connection, clock } = this.dependencies;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const raw = await connection.ready(signal);
      if (raw === undefined) break;
      const isOver = await this.#serve(raw);
      this.#firstAttempt();
      if (isOver) break;
      await sleep(clock, this.#pause.next(), signal);
    }
    this.#firstAttempt();
  }

  // One channel, from its opening to its end. Resolves with whether there is to be no other.
  async #serve(raw: RawConnection): Promise<boolean> {
    const { subscription, listener, log, clock } = this.dependencies;
    let channel: ConsumerChannel | undefined;
    try {
      this.#queue = await declareTopology(topologyClientOf(raw), subscription, log);
      this.#sawVersion(serverVersionOf(raw));
      channel = await ConsumerChannel.open(raw, (message) => this.#deliver(message), clock);
      this.#channel = channel;
      this.#slowStart.opened(channel, this.#queue);
      this.#closing.signal.throwIfAborted(); // Else nobody would close the channel any more.
      const refused = await this.#applyGate();
      if (refused !== undefined) throw refused;
      if (!channel.isOpen) throw await channel.ended;
    } catch (error) {
      await channel?.close(CLOSE_LIMIT);
      if (this.#closing.signal.aborted) return true;
      // A channel that ends as soon as it consumes may have handed something out.
      if (channel !== undefined) this.#channelLost(error as Error);
      return this.#failed(raw, error as Error);
    }
    this.#firstAttempt();
    this.dependencies.checkRights();
    const ended = this.dependencies.connection.reasonOf(raw, await channel.ended);
    if (this.#closing.signal.aborted) return true;
    const end = { channel, raw, queue: this.#queue, subscription, listener, clock };
    const explained = channelEndReason(end, ended);
    this.#pause.closed({ ...channel.usage, isReturned: channel === this.#returned });
    this.#channelLost(ended);
    if (channel === this.#returned) return false;
    this.#lostAt = clock.monotonic();
    const { reason, oldest } = await explained;
    log.write('channel-closed', texts.channelLost(end.queue, reason, oldest));
    listener.reconnecting(reason);
    return false;
  }

  #channelLost(reason: Error): void {
    this.#gate.channelClosed();
    this.#slowStart.channelClosed();
    this.dependencies.listener.channelLost(reason);
  }

  #sawVersion(version: RedeliveryCounting['version']): void {
    if (this.#counting.version.join() === version.join()) return;
    this.#counting.version = version;
    logVersionWarnings(this.dependencies.subscription, version, this.dependencies.log);
  }

  async #failed(raw: RawConnection, failure: Error): Promise<boolean> {
    const { subscription, listener, log, connection, clock } = this.dependencies;
    const { signal } = this.#closing;
    const isSuspect = forbidsAFeature(connection.reasonOf(raw, failure));
    const forbidden = isSuspect ? await this.dependencies.probeDeclaration(signal) : undefined;
    if (signal.aborted) return true;
    this.#forbidden = forbidden;
    const error = forbidden ?? failure;
    const isRefused = forbidden !== undefined || isRefusal(failure);
    this.#lostAt ??= clock.monotonic();
    if (isRefused) {
      log.write('refused', texts.refusedBy(subscription.queue, error));
      listener.refused(error);
    } else {
      log.write('reconnecting', texts.cannotConsume(subscription.queue, error));
      listener.reconnecting(error);
    }
    return forbidden !== undefined;
  }

  // One change at a time. Resolves with the error of a consume that the broker refused; that ends the
  // channel as well.
  #applyGate(): Promise<Error | undefined> {
    this.#change = this.#change.then(async () => {
      try {
        await this.#changeConsumer();
        return undefined;
      } catch (error) {
        return error as Error;
      }
    });
    return this.#change;
  }

  async #changeConsumer(): Promise<void> {
    const channel = this.#channel;
    if (channel === undefined || !channel.isOpen) return;
    const prefetch = this.#slowStart.limit(this.#gate.prefetch);
    const { subscription, consumeOptions: options, listener } = this.dependencies;
    if (subscription.order !== undefined && channel.isConsuming && prefetch !== channel.prefetch) {
      return this.#returnInOrder(channel);
    }
    if (prefetch !== channel.prefetch) await channel.cancel();
    if (prefetch === 0 || !(channel.isConsuming || this.#slowStart.allows(prefetch))) return;
    const isDrained = subscription.queueType === 'quorum' && !subscription.noAck;
    if (!channel.isConsuming) {
      await channel.consume({ queue: this.#queue, prefetch, options, isDrained });
      this.#logRecovery();
    }
    listener.consuming();
  }

  // After a cancel, the next consumer would get later messages before those that this channel holds.
  async #returnInOrder(channel: ConsumerChannel): Promise<void> {
    await this.dependencies.listener.finished();
    this.#returned = channel;
    await channel.close(CLOSE_LIMIT);
  }

  #logRecovery(): void {
    const { log, clock } = this.dependencies;
    if (this.#lostAt === undefined) return;
    log.write('consuming', texts.consuming(this.#queue, clock.monotonic() - this.#lostAt));
    this.#lostAt = undefined;
  }

  #deliver(message: IncomingMessage): void {
    const channel = this.#channel;
    if (channel === undefined) return;
    const { subscription, republisher } = this.dependencies;
    const counts = this.#counting.countsOf(message, this.#queue);
    const delivery = new RabbitMQDelivery(message, this.#queue, counts, channel, republisher);
    if (!subscription.noAck) channel.arrived(delivery);
    this.#slowStart.delivered(delivery);
  }
}
