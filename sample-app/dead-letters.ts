import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { SettleHeaders, SubscriptionRegistry } from 'nestjs-settle';
import { Screen } from './screen';

/** Reads the dead-letter queues empty and shows why each message is there. */
@Injectable()
export class DeadLetters {
  constructor(
    private readonly amqp: AmqpConnection,
    private readonly registry: SubscriptionRegistry,
    private readonly screen: Screen,
  ) {}

  async show(): Promise<void> {
    for (const { subscription } of this.registry.list()) {
      const queue = subscription.deadLetter?.queue;
      if (queue !== undefined) await this.#showQueue(queue);
    }
  }

  async #showQueue(queue: string): Promise<void> {
    for (;;) {
      const message = await this.amqp.channel.get(queue);
      if (message === false) return;
      const { messageId, headers = {} } = message.properties;
      const attempts = headers[SettleHeaders.attemptsMade];
      this.screen.row(
        [queue, 12],
        [String(messageId), 8],
        [String(headers[SettleHeaders.reason]), 11],
        [attempts === 1 ? '1 attempt' : `${attempts} attempts`, 10],
        [errorOf(headers), 0],
      );
      this.amqp.channel.ack(message);
    }
  }
}

function errorOf(headers: Readonly<Record<string, unknown>>): string {
  const name = headers[SettleHeaders.errorName];
  const text = headers[SettleHeaders.errorMessage] ?? '';
  return name === undefined ? String(text) : `${name}: ${text}`;
}
