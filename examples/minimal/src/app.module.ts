import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Module } from '@nestjs/common';
import { SettleModule } from 'nestjs-settle';
import { Billing } from './billing';

@Module({
  imports: [
    RabbitMQModule.forRoot({
      uri: process.env['RABBITMQ_URL'] ?? 'amqp://localhost',
      exchanges: [{ name: 'orders', type: 'topic' }],
    }),
    SettleModule.forRoot(),
  ],
  providers: [Billing],
})
export class AppModule {}
