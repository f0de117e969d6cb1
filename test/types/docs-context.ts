// The snippets of docs/configuration.md, "The current delivery".
import { Injectable, Logger } from '@nestjs/common';
import { ClsService } from 'nestjs-cls';
import {
  currentDelivery,
  type Delivery,
  type InjectableDeliveryInterceptor,
  type Outcome,
  SettleModule,
} from 'nestjs-settle';

export const settle = SettleModule.forRoot({ context: true });

@Injectable()
export class Audit {
  private readonly logger = new Logger(Audit.name);

  changed(what: string): void {
    this.logger.log(`${what} changed by message ${currentDelivery()?.messageId}`);
  }
}

@Injectable()
export class ClsForDeliveries implements InjectableDeliveryInterceptor {
  constructor(private readonly cls: ClsService) {}

  intercept(delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
    return this.cls.run(() => {
      this.cls.set('messageId', delivery.messageId);
      return next();
    });
  }
}
