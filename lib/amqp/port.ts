import type { OutgoingMessage } from '../delivery/republish';
import type { IncomingMessage } from '../model/delivery';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/**
 * How a delivery is settled on the channel that delivered it:
 * - `ack`: it is acknowledged;
 * - `reject`: it is rejected without requeue; the queue's own dead-letter exchange takes it, if any;
 * - `requeueFailed`: it is requeued after a failed attempt, and a broker that counts counts it;
 * - `requeueUnprocessed`: it is requeued without an attempt, uncounted if the broker can tell the two
 *   apart (RabbitMQ 4.3 and later).
 */
export type SettleAction = 'ack' | 'reject' | 'requeueFailed' | 'requeueUnprocessed';

/** Called once: whether a frame was written to an open channel; `false`: the channel had closed. */
export type Written = (isWritten: boolean) => void;

/** Where a message is published: to the subscription's queue after a delay, or to its dead-letter queue. */
export type RepublishTarget =
  | { readonly to: 'retry'; readonly delayMs: number }
  | { readonly to: 'deadLetter' };

/**
 * What became of a published message:
 * - `confirmed`: the broker has it in a queue;
 * - `failed`: given up after some tries; a late confirm would make it a duplicate;
 * - `lost`: given up because the channel of the delivery closed, and the broker will redeliver it.
 */
export type RepublishResult =
  | { readonly status: 'confirmed' }
  | { readonly status: 'failed'; readonly tries: number; readonly error: unknown }
  | { readonly status: 'lost' };

/**
 * One message on its way through, bound to the channel that delivered it. Exactly one of `settle` and
 * `leave` is called, once.
 */
export interface BrokerDelivery {
  readonly message: IncomingMessage;
  /** The name of the queue, also where the server gave it. */
  readonly queue: string;
  /** Whether the broker keeps a count of this queue's redeliveries. */
  readonly countsRedeliveries: boolean;
  /** How often the broker says that it has handed the message out, now included; 0: it does not say. */
  readonly acquired: number;
  /** Settles on the very channel that delivered, or not at all. Never throws for a lost channel. */
  settle(frame: SettleAction, written: Written): void;
  /** Leaves the delivery unsettled: it goes back when its channel closes, which then closes last. */
  leave(): void;
  /** Sends a copy; never settles the original. Never rejects. */
  republish(copy: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult>;
}

/** What a consumer tells. Nothing that is called here throws. */
export interface ConsumerListener {
  delivered(delivery: BrokerDelivery): void;
  /** How long a delivery has been in flight, in ms; 0 where it is not. */
  ageOf(delivery: BrokerDelivery): number;
  /** The channel is gone; everything it delivered and that is not settled comes again. */
  channelLost(reason: Error): void;
  consuming(): void;
  /** Not consuming, but trying again. */
  reconnecting(reason: Error): void;
  /** The broker refuses what the subscription declares or asks for. */
  refused(reason: Error): void;
}

/** The consumer of one subscription. All methods may be called at any time; none rejects. */
export interface BrokerConsumer {
  /**
   * Begins to consume, and goes on until `close`, over lost channels and connections. Resolves after
   * the first attempt, however it ended, or at once where there is no connection.
   */
  start(): Promise<void>;
  /** Stops the intake; resolves once the broker has confirmed that nothing more comes. */
  pause(): Promise<void>;
  /** Begins again after `pause`. */
  resume(): void;
  /**
   * Stops the intake for a while after a copy has failed: 1 s, doubled each time, 1 min at most, until
   * a copy goes through again. Resolves once the intake has stopped.
   */
  pauseAfterFailure(): Promise<void>;
  /**
   * Writes what is still to be written, and closes with a round trip, waiting at most `limitMs` for
   * it. For good.
   */
  close(limitMs: number): Promise<void>;
}

/** What a broker must be able to do for this module. One an application's connection. */
export interface Broker {
  /** @param prefetch how many deliveries may be unsettled at once. */
  consumer(
    subscription: SubscriptionMetadata,
    prefetch: number,
    listener: ConsumerListener,
  ): BrokerConsumer;
  /** Ends what belongs to no single consumer, within `limitMs`. Called last; never rejects. */
  close(limitMs: number): Promise<void>;
}
