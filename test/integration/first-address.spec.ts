import { RabbitRequest } from '@golevelup/nestjs-rabbitmq';
import { Injectable, type Type } from '@nestjs/common';
import type { ConsumeMessage } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { Delivery, fixed, retry, retryAfter, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { waitForEmpty } from '../support/forced';
import type { AcknowledgedOptions } from '../support/handlers';

/** What one attempt has seen of its address. */
type Seen = readonly [attempt: number, ...addresses: (string | undefined)[]];

describe.each(['classic', 'quorum'] as const)('on a %s queue', async (queueType) => {
  const broker = await openBroker();
  let exchange: string;
  let seen: Seen[];

  function outcomeOf({ attempt }: Delivery) {
    if (attempt === 3) return undefined;
    return attempt === 1 ? retryAfter() : retry();
  }

  function addressOf({ fields }: ConsumeMessage): string {
    return `${fields.exchange}/${fields.routingKey}`;
  }

  async function run(handlerOf: (options: AcknowledgedOptions) => Type): Promise<void> {
    seen = [];
    exchange = unique('shop');
    const queue = unique('address');
    const retry = { attempts: 3, backoff: fixed(50) };
    const { settled } = await startApp({
      providers: [handlerOf({ exchange, routingKey: 'order.*', queue, queueType, retry })],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
    });
    await broker.publish(exchange, 'order.paid', {});
    await settled(3);
    await waitForEmpty(queue);
  }

  it('the second argument shows the address of the first publish on each attempt', async () => {
    await run((options) => {
      @Injectable()
      class Handler {
        @Subscribe(options)
        handle(_payload: unknown, message: ConsumeMessage, _headers: unknown, delivery: Delivery) {
          seen.push([delivery.attempt, addressOf(message), addressOf(delivery.message)]);
          return outcomeOf(delivery);
        }
      }
      return Handler;
    });
    const address = `${exchange}/order.paid`;
    expect(seen).toEqual([1, 2, 3].map((attempt) => [attempt, address, address]));
  });

  it('so does @RabbitRequest', async () => {
    await run((options) => {
      @Injectable()
      class Handler {
        @Subscribe(options)
        handle(
          @RabbitRequest() message: ConsumeMessage,
          @RabbitRequest('fields') fields: ConsumeMessage['fields'],
          @Delivery() delivery: Delivery,
        ) {
          seen.push([delivery.attempt, addressOf(message), fields.routingKey]);
          return outcomeOf(delivery);
        }
      }
      return Handler;
    });
    const address = `${exchange}/order.paid`;
    expect(seen).toEqual([1, 2, 3].map((attempt) => [attempt, address, 'order.paid']));
  });
});
