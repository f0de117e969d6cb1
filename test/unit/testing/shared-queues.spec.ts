import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { expect, it } from 'vitest';
import { SettleModule, Subscribe } from '../../../lib';
import { SettleTest } from '../../../lib/testing';

@Injectable()
class Orders {
  @Subscribe({ queue: 'orders', when: { routingKey: ['order.*.paid.#', 'x'], type: 'Paid' } })
  paid(): void {}

  @Subscribe({ queue: 'orders', when: { header: { kind: ['refund', 'return'] } } })
  refunded(): void {}

  @Subscribe({ queue: 'orders' })
  other(): void {}
}

it('deliver() publishes what the when of the method asks for', async () => {
  const test = await SettleTest.create({
    imports: [RabbitMQModule.forRoot({ uri: 'amqp://localhost' }), SettleModule.forRoot()],
    providers: [Orders],
  }).compile();
  for (const method of ['paid', 'refunded', 'other'] as const) {
    const settlement = await test.deliver(Orders, method, {});
    expect(settlement).toMatchObject({ handler: `Orders.${method}`, attempt: 1, outcome: 'ack' });
  }
  const own = await test.deliver(Orders, 'refunded', {}, { headers: { kind: 'return' } });
  expect(own.handler).toBe('Orders.refunded');
  test.loseChannel(Orders, 'refunded');
  await test.advance('1s');
  expect((await test.queue('orders')).consumers).toBe(1);
  await test.close();
});
