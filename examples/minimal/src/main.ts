import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module';
import type { Order } from './billing';

async function main(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule);
  app.enableShutdownHooks();

  const orders: Order[] = [
    { id: 'A-1', card: 'valid' },
    { id: 'A-2', card: 'slow' },
    { id: 'A-3', card: 'stolen' },
  ];
  for (const order of orders) {
    await app.get(AmqpConnection).publish('orders', 'order.paid', order, { messageId: order.id });
  }
}

void main();
