// The snippets of docs/migration-golevelup.md, quorum-migration.md and configuration.md.
import { Injectable } from '@nestjs/common';
import type { Channel } from 'amqplib';
import { exponential, Subscribe, SubscriptionRegistry } from 'nestjs-settle';

interface Order {
  readonly number: number;
}

declare class Bank {
  charge(order: Order): Promise<void>;
}

@Injectable()
export class ExistingQueue {
  constructor(private readonly bank: Bank) {}

  @Subscribe({
    queue: 'invoices',
    queueType: 'quorum',
    declare: { queue: false },
    retry: { attempts: 5 },
    deadLetter: 'invoices.dead',
  })
  async charge(order: Order): Promise<void> {
    await this.bank.charge(order);
  }
}

@Injectable()
export class FirstStep {
  constructor(private readonly bank: Bank) {}

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    deadLetter: 'billing.dead',
    onError: 'retry',
    onPanic: 'retry',
  })
  async charge(order: Order): Promise<void> {
    await this.bank.charge(order);
  }
}

@Injectable()
export class LastStep {
  constructor(private readonly bank: Bank) {}

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing',
    retry: { attempts: 5, backoff: exponential('1s', { max: '5m' }) },
    deadLetter: 'billing.dead',
    onError: 'retryAfter',
  })
  async charge(order: Order): Promise<void> {
    await this.bank.charge(order);
  }
}

@Injectable()
export class Billing {
  constructor(private readonly bank: Bank) {}

  @Subscribe({ queue: 'billing', retry: { attempts: 5 }, deadLetter: 'billing.dead' })
  @Subscribe({
    queue: 'billing.quorum',
    queueType: 'quorum',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
  })
  async charge(order: Order): Promise<void> {
    await this.bank.charge(order);
  }
}

@Injectable()
export class Moved {
  constructor(private readonly bank: Bank) {}

  @Subscribe({
    exchange: 'orders',
    routingKey: 'order.paid',
    queue: 'billing.quorum',
    queueType: 'quorum',
    retry: { attempts: 5 },
    deadLetter: 'billing.dead',
  })
  async charge(order: Order): Promise<void> {
    await this.bank.charge(order);
  }
}

export async function moveBinding(channel: Channel): Promise<void> {
  await channel.bindQueue('billing.quorum', 'orders', 'order.paid');
  await channel.unbindQueue('billing', 'orders', 'order.paid');
}

export async function removeOld(channel: Channel): Promise<void> {
  await channel.deleteQueue('billing', { ifUnused: true, ifEmpty: true });
}

@Injectable()
export class InOrder {
  constructor(private readonly registry: SubscriptionRegistry) {}

  async begin(): Promise<void> {
    await this.registry.pause(Billing, 'charge', 'billing.quorum');
  }
}
