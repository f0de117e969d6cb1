import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Module } from '@nestjs/common';
import { SettleModule } from 'nestjs-settle';
import { Bank } from './bank';
import { Billing } from './billing';
import { Mail } from './mail';
import { MetricsModule } from './metrics.module';
import { Orders } from './orders';
import { Screen } from './screen';
import { Stock } from './stock';

/** The shop itself. */
@Module({
  imports: [
    RabbitMQModule.forRoot({
      uri: process.env['RABBITMQ_URL'] ?? 'amqp://localhost',
      exchanges: [{ name: 'orders', type: 'topic' }],
    }),
    SettleModule.forRoot({ defaults: { prefetch: 50 } }),
    MetricsModule,
  ],
  providers: [Bank, Billing, Mail, Orders, Screen, Stock],
  exports: [Bank, Orders, Screen],
})
export class ShopModule {}
