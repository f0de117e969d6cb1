// The snippets of docs/configuration.md, "The current delivery" and "Request-scoped providers".
import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { ClsService } from 'nestjs-cls';
import {
  currentDelivery,
  type Delivery,
  type InjectableDeliveryInterceptor,
  type Outcome,
  SettleModule,
  Subscribe,
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

interface Invoice {
  readonly number: string;
}

@Injectable({ scope: Scope.REQUEST })
export class UnitOfWork {
  readonly tenant: unknown;
  readonly #added: Invoice[] = [];

  constructor(@Inject(REQUEST) delivery: Delivery) {
    this.tenant = delivery.headers.tenant;
  }

  async add(invoice: Invoice): Promise<void> {
    this.#added.push(invoice);
  }
}

@Injectable()
export class Invoices {
  constructor(private readonly unit: UnitOfWork) {}

  @Subscribe({ queue: 'invoices', requestScope: true })
  async bill(invoice: Invoice): Promise<void> {
    await this.unit.add(invoice);
  }
}
