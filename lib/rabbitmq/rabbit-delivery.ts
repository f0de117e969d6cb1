import type { BrokerDelivery, CopyResult, CopyTarget, Frame, Written } from '../broker/port';
import { acquiredOf } from '../delivery/attempt';
import type { Copy } from '../delivery/copy';
import type { IncomingMessage } from '../delivery/message';
import { messages } from '../outcome/messages';
import type { Tagged } from './acker';
import type { ConsumerChannel } from './consumer-channel';

/** Sends the copy of a delivery, as long as its channel is there. */
export type SendCopy = (
  copy: Copy,
  target: CopyTarget,
  delivery: RabbitDelivery,
) => Promise<CopyResult>;

/** A delivery, bound to the channel object that it came from. */
export class RabbitDelivery implements BrokerDelivery, Tagged {
  previous: Tagged | undefined;
  next: Tagged | undefined;
  #settled = false;

  constructor(
    readonly message: IncomingMessage,
    readonly queue: string,
    readonly counts: boolean,
    private readonly tellsAcquired: boolean,
    readonly channel: ConsumerChannel,
    private readonly sendCopy: SendCopy,
  ) {}

  get acquired(): number {
    return this.tellsAcquired ? acquiredOf(this.message) : 0;
  }

  get tag(): number {
    return this.message.fields.deliveryTag;
  }

  settle(frame: Frame, written: Written): void {
    if (this.#settled) throw new Error(messages.settledTwice(this.tag));
    this.#settled = true;
    this.channel.settle(this, frame, written);
  }

  leave(): void {
    if (this.#settled) throw new Error(messages.settledTwice(this.tag));
    this.#settled = true;
  }

  copy(copy: Copy, target: CopyTarget): Promise<CopyResult> {
    return this.sendCopy(copy, target, this);
  }
}
