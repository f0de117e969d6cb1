// The snippets of docs/configuration.md, from "The current delivery" to "Transactions".
import { Inject, Injectable, Logger, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import {
  Transactional,
  type TransactionalAdapter,
  TransactionHost,
} from '@nestjs-cls/transactional';
import { ClsService } from 'nestjs-cls';
import {
  ack,
  currentDelivery,
  type Delivery,
  type InjectableDeliveryInterceptor,
  type Outcome,
  retry,
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

interface Payment {
  readonly account: string;
  readonly cents: number;
}

interface Ledger {
  append(account: string, cents: number): Promise<boolean>;
}

type Adapter = TransactionalAdapter<unknown, Ledger, object>;

@Injectable()
export class Payments {
  constructor(private readonly host: TransactionHost<Adapter>) {}

  @Subscribe({ queue: 'payments', timeout: '30s', retry: { attempts: 5 }, onError: 'retryAfter' })
  @Transactional()
  async book(
    payment: Payment,
    _message: unknown,
    _headers: unknown,
    { signal }: Delivery,
  ): Promise<Outcome> {
    const isOpen = await this.host.tx.append(payment.account, payment.cents);
    if (!isOpen) throw retry();
    signal.throwIfAborted();
    return ack();
  }
}
