import { AsyncResource } from 'node:async_hooks';
import { consumerOptionsOf } from '../amqp/consume-arguments';
import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import { ConsumerGate } from '../amqp/consumer-gate';
import type { BrokerConsumer, BrokerDelivery, ConsumerListener, Intake } from '../amqp/port';
import { RedeliveryCounting } from '../amqp/redelivery-counting';
import { forbidsAFeature, isRefusal } from '../amqp/refusal';
import { Republisher } from '../amqp/republisher';
import { declareTopology } from '../amqp/topology';
import { logVersionWarnings } from '../amqp/version-checks';
import { type Clock, sleep } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { MemoryChannel } from './memory-channel';
import { type MemoryClient, memoryTopologyClientOf } from './memory-topology';
import { MemoryTransport } from './memory-transport';

const REOPENING_PAUSE = 100;

/** What a consumer is made of. */
export interface MemoryConsumerDependencies {
  readonly client: MemoryClient;
  readonly subscription: ConsumedSubscription;
  readonly prefetch: number;
  readonly listener: ConsumerListener;
  readonly log: SubscriptionLog;
  readonly clock: Clock;
  readonly republishTimeout: number;
}

/** The consumer of one subscription on the server in memory: one channel at a time. */
export class MemoryConsumer implements BrokerConsumer {
  readonly #closing = new AbortController();
  readonly #gate: ConsumerGate;
  readonly #counting: RedeliveryCounting;
  readonly #republisher: Republisher;
  // Deliveries arrive in the context in which the application connects, not in that of whoever publishes.
  readonly #context = new AsyncResource('SettleMemoryConsumer');
  #channel: MemoryChannel | undefined;
  #queue = '';
  #isStarted = false;
  /** Whether the channel is being closed to return what it holds. */
  #isReturning = false;
  /** When the last channel was lost, on the monotonic scale; `undefined` while consuming. */
  #lostAt: number | undefined;

  constructor(private readonly dependencies: MemoryConsumerDependencies) {
    const { subscription, prefetch, client, listener, log, clock, republishTimeout } = dependencies;
    this.#counting = new RedeliveryCounting(subscription.queueType, log);
    const transport = new MemoryTransport(client, clock);
    this.#republisher = new Republisher(subscription, transport, log, clock, republishTimeout);
    this.#gate = new ConsumerGate({
      subscription,
      prefetch,
      clock,
      closing: this.#closing.signal,
      apply: async () => this.#followGate(),
      delivered: (delivery) => listener.delivered(delivery),
    });
  }

  /** The channel that is open now; tests close it. */
  get channel(): MemoryChannel | undefined {
    return this.#channel;
  }

  /** The name of the queue, also of a server-named one. */
  get queue(): string {
    return this.#queue;
  }

  get subscription(): ConsumedSubscription {
    return this.dependencies.subscription;
  }

  async start(): Promise<void> {
    if (this.#isStarted || this.#closing.signal.aborted) return;
    this.#isStarted = true;
    const { subscription, client, log } = this.dependencies;
    this.#counting.version = client.server.version;
    logVersionWarnings(subscription, client.server.version, log);
    await this.#open();
  }

  take(intake: Intake): Promise<void> {
    return this.#gate.take(intake);
  }

  stop(): Promise<void> {
    return this.#gate.stop();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#gate.close();
    this.#channel?.close();
    this.dependencies.log.flush();
  }

  async #open(): Promise<void> {
    const { subscription, client, log, prefetch, clock } = this.dependencies;
    try {
      this.#queue = await declareTopology(memoryTopologyClientOf(client), subscription, log);
    } catch (error) {
      this.#failed(error as Error);
      return;
    }
    if (this.#closing.signal.aborted) return;
    const options = {
      ...consumerOptionsOf(subscription),
      prefetch,
      noAck: subscription.noAck,
    };
    const listener = {
      delivered: (message: IncomingMessage, channel: MemoryChannel) =>
        this.#context.runInAsyncScope(() => this.#deliver(message, channel)),
      closed: (reason: Error) => this.#closed(reason),
    };
    const queue = client.server.queue(this.#queue);
    this.#channel = new MemoryChannel(queue, options, listener, clock);
    const refused = this.#applyGate();
    if (refused === undefined) return;
    this.#channel = undefined;
    this.#channelLost(refused);
    this.#failed(refused);
  }

  #failed(error: Error): void {
    const { listener, log, subscription, clock } = this.dependencies;
    this.#lostAt ??= clock.monotonic();
    if (isRefusal(error) || forbidsAFeature(error)) {
      log.write('refused', texts.refusedBy(subscription.queue, error));
      listener.refused(error);
    } else {
      log.write('reconnecting', texts.cannotConsume(subscription.queue, error));
      listener.reconnecting(error);
    }
    void this.#reopen();
  }

  #closed(reason: Error): void {
    this.#channel = undefined;
    if (this.#closing.signal.aborted) return;
    const { listener, log, clock } = this.dependencies;
    if (this.#isReturning) {
      this.#channelLost(reason);
      return void this.#reopen();
    }
    this.#lostAt = clock.monotonic();
    log.write('channel-closed', texts.channelLost(this.#queue, reason));
    this.#channelLost(reason);
    listener.reconnecting(reason);
    void this.#reopen();
  }

  #channelLost(reason: Error): void {
    this.#gate.channelClosed();
    this.dependencies.listener.channelLost(reason);
  }

  async #reopen(): Promise<void> {
    await sleep(this.dependencies.clock, REOPENING_PAUSE, this.#closing.signal);
    if (!this.#closing.signal.aborted) await this.#open();
  }

  #followGate(): void {
    const refused = this.#applyGate();
    if (refused !== undefined) this.#channel?.close(refused);
  }

  // Returns the error of a consume that the server refuses.
  #applyGate(): Error | undefined {
    const channel = this.#channel;
    if (channel === undefined) return undefined;
    const { prefetch } = this.#gate;
    const isOrdered = this.dependencies.subscription.order !== undefined;
    if (isOrdered && channel.isConsuming && prefetch !== channel.prefetch) {
      void this.#returnInOrder(channel);
      return undefined;
    }
    if (prefetch !== channel.prefetch) channel.cancel();
    if (prefetch === 0) return undefined;
    if (!channel.isConsuming) {
      try {
        channel.consume(prefetch);
      } catch (error) {
        return error as Error;
      }
      this.#logRecovery();
    }
    this.dependencies.listener.consuming();
    return undefined;
  }

  // After a cancel, the next consumer would get later messages before those that this channel holds.
  async #returnInOrder(channel: MemoryChannel): Promise<void> {
    await this.dependencies.listener.finished();
    if (this.#channel !== channel) return;
    this.#isReturning = true;
    channel.close();
    this.#isReturning = false;
  }

  #logRecovery(): void {
    const { log, clock } = this.dependencies;
    if (this.#lostAt === undefined) return;
    log.write('consuming', texts.consuming(this.#queue, clock.monotonic() - this.#lostAt));
    this.#lostAt = undefined;
  }

  #deliver(message: IncomingMessage, channel: MemoryChannel): void {
    const { deliveryTag } = message.fields;
    const queue = this.#queue;
    const delivery: BrokerDelivery = {
      message,
      queue,
      ...this.#counting.countsOf(message, queue),
      settle: (action, written) => written(channel.settle(deliveryTag, action)),
      leave: () => channel.leave(deliveryTag),
      republish: (outgoing, target) =>
        this.#republisher.publish(outgoing, target, { queue, lost: channel.lost }),
    };
    this.#gate.delivered(delivery);
  }
}
