import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Module } from '@nestjs/common';
import { SettleModule } from 'nestjs-settle';
import { Bank } from './bank';
import { Billing } from './billing';
import { DeadLetters } from './dead-letters';
import { Mail } from './mail';
import { Orders } from './orders';
import { Screen } from './screen';
import { SettlementPrinter } from './settlement-printer';
import { Showcase } from './showcase';
import { Stock } from './stock';

@Module({
  imports: [
    RabbitMQModule.forRoot({
      uri: process.env['RABBITMQ_URL'] ?? 'amqp://localhost',
      exchanges: [{ name: 'orders', type: 'topic' }],
    }),
    SettleModule.forRoot({ defaults: { prefetch: 50 } }),
  ],
  providers: [Bank, Billing, DeadLetters, Mail, Orders, Screen, SettlementPrinter, Showcase, Stock],
})
export class ShopModule {}
