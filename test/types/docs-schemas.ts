// The snippets of docs/schemas.md and docs/topology.md.
import { Injectable } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsDate, IsUUID } from 'class-validator';
import { drop, Subscribe, type SubscriptionRegistry } from 'nestjs-settle';
import { z } from 'zod';

declare class Stock {
  take(id: string): Promise<void>;
  release(id: string): Promise<void>;
}
declare class Mail {
  receipt(id: string, paidAt: Date): Promise<void>;
}

const OrderPaid = z.object({
  id: z.uuid(),
  amount: z.number().positive(),
  paidAt: z.coerce.date(),
});

@Injectable()
export class Receipts {
  @Subscribe({ queue: 'receipts', deadLetter: 'receipts.dead', schema: OrderPaid })
  async send(order: z.output<typeof OrderPaid>): Promise<void> {
    await this.mail.receipt(order.id, order.paidAt);
  }

  constructor(private readonly mail: Mail) {}
}

class OrderDto {
  @IsUUID()
  id!: string;

  @Type(() => Date)
  @IsDate()
  paidAt!: Date;
}

@Injectable()
export class Invoices {
  @Subscribe({ queue: 'invoices', schema: OrderDto })
  async write(order: OrderDto): Promise<void> {
    if (order.paidAt.getFullYear() < 2020) throw drop('too old');
  }
}

const orders = { queue: 'orders', queueType: 'quorum', deadLetter: 'orders.dead' } as const;

export class Orders {
  constructor(private readonly stock: Stock) {}

  @Subscribe({ ...orders, when: { routingKey: 'order.paid.#' }, schema: OrderPaid })
  async paid(order: z.output<typeof OrderPaid>): Promise<void> {
    await this.stock.take(order.id);
  }

  @Subscribe({ ...orders, when: { type: ['OrderCancelled', 'OrderRefused'] }, onUnmatched: 'skip' })
  async cancelled(order: { readonly id: string }): Promise<void> {
    await this.stock.release(order.id);
  }
}

export class Exports {
  @Subscribe({ queue: 'exports', decompress: { max: '16MiB' } })
  read(): void {}
}

export class Topology {
  constructor(private readonly registry: SubscriptionRegistry) {}

  // docs/topology.md
  queues(): readonly unknown[] {
    const { consumers } = this.registry.describe({ rabbitmq: '4.2' });
    return consumers.flatMap(({ queues }) => queues);
  }
}
