import type {
  BrokerDelivery,
  RepublishResult,
  RepublishTarget,
  SettleAction,
  Written,
} from '../amqp/port';
import type { DeliveryCounts } from '../amqp/redelivery-counting';
import type { Republisher } from '../amqp/republisher';
import type { OutgoingMessage } from '../delivery/republish';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import type { ChannelDelivery } from './channel-delivery';
import type { ConsumerChannel } from './consumer-channel';

/** A delivery, bound to the channel that delivered it. */
export class RabbitMQDelivery implements BrokerDelivery, ChannelDelivery {
  previous: ChannelDelivery | undefined;
  next: ChannelDelivery | undefined;
  // Kept: a handler can change the message.
  readonly tag: number;
  readonly countsRedeliveries: boolean;
  readonly countsRequeues: boolean;
  readonly acquired: number;
  #settled = false;

  constructor(
    readonly message: IncomingMessage,
    readonly queue: string,
    counts: DeliveryCounts,
    private readonly channel: ConsumerChannel,
    private readonly republisher: Pick<Republisher, 'publish'>,
  ) {
    this.tag = message.fields.deliveryTag;
    this.countsRedeliveries = counts.countsRedeliveries;
    this.countsRequeues = counts.countsRequeues;
    this.acquired = counts.acquired;
  }

  settle(action: SettleAction, written: Written): void {
    this.#requireUnsettled();
    this.channel.settle(this, action, written);
  }

  leave(): void {
    this.#requireUnsettled();
  }

  republish(message: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult> {
    const { queue, channel } = this;
    return this.republisher.publish(message, target, { queue, lost: channel.lost });
  }

  #requireUnsettled(): void {
    if (this.#settled) throw new Error(texts.settledTwice(this.tag));
    this.#settled = true;
  }
}
