import type { OutgoingMessage } from '../delivery/republish';
import type { IncomingMessage } from '../model/delivery';
import type { RepublishError } from '../model/errors';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { ConsumedSubscription } from './consumed-subscription';
import type { LeftOut } from './writable-message';

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
export type RepublishTarget = (
  | { readonly to: 'retry'; readonly delayMs: number }
  | { readonly to: 'deadLetter' }
) & {
  /** The subscription of the method that handled the message; by default that of the consumer. */
  readonly subscription?: SubscriptionMetadata;
};

/**
 * What became of a published message:
 * - `confirmed`: the broker has it in a queue, perhaps without some of its properties and headers;
 * - `failed`: given up; the error says whose failure it is, and whether the message may have arrived;
 * - `lost`: given up because the channel of the delivery closed, and the broker will redeliver it.
 */
export type RepublishResult =
  | { readonly status: 'confirmed'; readonly reduced?: ReducedMessage | undefined }
  | { readonly status: 'failed'; readonly tries: number; readonly error: RepublishError }
  | { readonly status: 'lost' };

/** What a message was published without. */
export interface ReducedMessage {
  readonly leftOut: LeftOut;
  /** Why the broker refused the whole message; `undefined` if it could not be written. */
  readonly refusal: RepublishError | undefined;
}

/** One delivery, bound to the channel that delivered it. Exactly one of `settle` and `leave` is called, once. */
export interface BrokerDelivery {
  readonly message: IncomingMessage;
  /** The name of the queue, also of a server-named one. */
  readonly queue: string;
  /** Whether the broker counts the redeliveries of this queue. */
  readonly countsRedeliveries: boolean;
  /** Whether the broker counts a message that is requeued unprocessed. */
  readonly countsRequeues: boolean;
  /** How often the broker has delivered the message, this time included; 0 if it does not report it. */
  readonly acquired: number;
  /** Settles on the channel that delivered, or not at all. Never throws for a closed channel. */
  settle(action: SettleAction, written: Written): void;
  /** Leaves the delivery unsettled: it is redelivered when its channel closes, which then closes last. */
  leave(): void;
  /** Publishes a message in place of the delivered one; does not settle the delivery. Never rejects. */
  republish(message: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult>;
}

/** Receives what a consumer reports. Never throws. */
export interface ConsumerListener {
  delivered(delivery: BrokerDelivery): void;
  /** How long a delivery has been in flight, in ms; 0 if it is not. */
  ageOf(delivery: BrokerDelivery): number;
  /** The channel closed; its unsettled deliveries will be redelivered. */
  channelLost(reason: Error): void;
  /** Resolves once no handler runs and nothing is being settled. Ordered subscriptions only. */
  finished(): Promise<void>;
  consuming(): void;
  /** Not consuming, but trying again. */
  reconnecting(reason: Error): void;
  /** The broker refuses what the subscription declares or consumes. */
  refused(reason: Error): void;
}

/** How many deliveries a consumer takes: none, one at a time, or as many as its prefetch. */
export type Intake = 'none' | 'one' | 'all';

/** The consumer of one subscription. All methods may be called at any time; none rejects. */
export interface BrokerConsumer {
  /**
   * Consumes until `close`, across closed channels and lost connections. Resolves after the first
   * attempt, however it ended, or at once if there is no connection.
   */
  start(): Promise<void>;
  /**
   * Changes how many deliveries are taken, also across closed channels. Resolves once the broker has
   * confirmed it: with `'none'` nothing more is delivered then. `'one'` again takes one more.
   */
  take(intake: Intake): Promise<void>;
  /** Takes nothing more, for good; resolves like `take('none')`. */
  stop(): Promise<void>;
  /**
   * Writes pending acknowledgements and closes for good, with a round trip that takes at most `limitMs`.
   */
  close(limitMs: number): Promise<void>;
}

/** How many messages and consumers a queue has. */
export interface MessageCounts {
  /** Messages that wait for a consumer. */
  readonly ready: number;
  /** Messages that consumers hold; `undefined` if the broker does not report it. */
  readonly unacknowledged: number | undefined;
  readonly consumers: number;
}

/** The broker behind one of the application's connections. */
export interface Broker {
  /** @param prefetch how many deliveries can be unsettled at once. */
  consumer(
    subscription: ConsumedSubscription,
    prefetch: number,
    listener: ConsumerListener,
  ): BrokerConsumer;
  /**
   * Counts what is in queues. A queue that does not exist, or whose counts the broker refuses, is not in the
   * result. Rejects if the connection is not open or closes meanwhile.
   */
  queueCounts(queues: readonly string[]): Promise<ReadonlyMap<string, MessageCounts>>;
  /** Closes what the consumers share, within `limitMs`. Called last; never rejects. */
  close(limitMs: number): Promise<void>;
}
