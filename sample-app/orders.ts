import { randomUUID } from 'node:crypto';
import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import type { Order } from './order';

/** The events of an order, as routing keys. */
export type OrderEvent = 'order.placed' | 'order.paid' | 'order.shipped';

/** Publishes the events of orders with golevelup's AmqpConnection. */
@Injectable()
export class Orders {
  constructor(private readonly amqp: AmqpConnection) {}

  /**
   * Resolves with the message's id once the broker has confirmed it.
   * @param order bytes are sent as they are.
   */
  async publish(event: OrderEvent, order: Order | Buffer): Promise<string> {
    const messageId = randomUUID().slice(0, 8);
    await this.amqp.publish('orders', event, order, { messageId, persistent: true });
    return messageId;
  }
}
