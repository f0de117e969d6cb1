import { acquiredOf, type BrokerCounts, hasBrokerCount } from '../delivery/attempt';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import type { QueueType } from '../model/options';
import type { BrokerDelivery } from './port';
import { isAtLeast, type ServerVersion } from './queue-declarations';

/**
 * Whether the broker counts the redeliveries of a queue: a quorum queue does. A redelivered message
 * without a count shows that the queue is not one, whatever its subscription declares.
 */
export class RedeliveryCounting {
  /** The version of the server of the channel. */
  version: ServerVersion = [0, 0];
  #counts: boolean;

  constructor(
    queueType: QueueType,
    private readonly log: SubscriptionLog,
  ) {
    this.#counts = queueType === 'quorum';
  }

  // Whether the count of this message is the broker's own.
  #isCounted(message: IncomingMessage, queue: string): boolean {
    const isCounted = hasBrokerCount(message, countsAcquired(this.version));
    if (this.#counts && message.fields.redelivered && !isCounted) {
      this.#counts = false;
      this.log.write('not-counting', texts.notCounting(queue));
    }
    return this.#counts;
  }

  /** What the broker says of the deliveries of a message. */
  countsOf(message: IncomingMessage, queue: string): DeliveryCounts {
    const countsRedeliveries = this.#isCounted(message, queue);
    return {
      countsRedeliveries,
      countsRequeues: countsRequeues(countsRedeliveries, this.version),
      acquired: acquiredCount(message, countsRedeliveries, this.version),
    };
  }
}

/** What the broker says of the deliveries of a message. */
export type DeliveryCounts = Pick<
  BrokerDelivery,
  'countsRedeliveries' | 'countsRequeues' | 'acquired'
>;

/** Which counts the headers of a delivery have from the broker. */
export function countsIn({ countsRedeliveries, acquired }: DeliveryCounts): BrokerCounts {
  return { redeliveries: countsRedeliveries, acquired: acquired > 0 };
}

/** Whether a requeue without an attempt is counted as one: RabbitMQ before 4.3 cannot tell the two apart. */
function countsRequeues(countsRedeliveries: boolean, version: ServerVersion): boolean {
  return countsRedeliveries && !countsAcquired(version);
}

/**
 * How often the broker has delivered a message, this time included; 0 if it does not say: RabbitMQ does
 * from 4.3 on, on quorum queues.
 */
function acquiredCount(
  message: IncomingMessage,
  countsRedeliveries: boolean,
  version: ServerVersion,
): number {
  return countsRedeliveries && countsAcquired(version) ? acquiredOf(message) : 0;
}

// Before, the header `x-acquired-count` is a client's.
function countsAcquired(version: ServerVersion): boolean {
  return isAtLeast(version, [4, 3]);
}
