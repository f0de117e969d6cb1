import type {
  BrokerDelivery,
  RepublishResult,
  RepublishTarget,
  SettleAction,
  Written,
} from '../amqp/port';
import { brokerCountOf } from '../delivery/attempt';
import type { OutgoingMessage } from '../delivery/republish';
import type { IncomingMessage } from '../model/delivery';
import type { ReceiverHost } from './receiver-host';

/**
 * A delivery of an ordered subscription. Instead of being requeued it is left to its channel, which returns all
 * that it holds, in order, when it closes.
 */
export class OrderedDelivery implements BrokerDelivery {
  readonly message: IncomingMessage;
  readonly queue: string;
  /**
   * RabbitMQ counts each message that a closed channel returns, also one whose handler was never called: its
   * count says nothing about attempts.
   */
  readonly countsRedeliveries = false;
  /** A requeued message would be republished instead, behind later ones. */
  readonly countsRequeues = false;
  readonly acquired: number;
  #isLeft = false;

  constructor(private readonly delivery: BrokerDelivery) {
    this.message = delivery.message;
    this.queue = delivery.queue;
    // Before 4.3, RabbitMQ reports one count, that of all returns.
    const counted = delivery.countsRedeliveries ? brokerCountOf(delivery.message, false) + 1 : 0;
    this.acquired = delivery.acquired || counted;
  }

  /** Whether it is left to its channel: nothing of its key may begin on this channel. */
  get isLeft(): boolean {
    return this.#isLeft;
  }

  settle(action: SettleAction, written: Written): void {
    if (action !== 'requeueUnprocessed') return this.delivery.settle(action, written);
    this.leave();
    written(true);
  }

  leave(): void {
    this.delivery.leave();
    this.#isLeft = true;
  }

  republish(message: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult> {
    return this.delivery.republish(message, target);
  }
}

/** A pause of an ordered subscription waits for what is in flight, which therefore never waits for a pause. */
export function orderedHost(host: ReceiverHost): ReceiverHost {
  return {
    ...host,
    pauseAfterFailure: async (error) => void host.pauseAfterFailure(error),
    pauseFor: async (ms, error) => void host.pauseFor(ms, error),
    consumerCancelled: () => Promise.resolve(),
  };
}
