// The snippets of docs/order.md.
import { Injectable } from '@nestjs/common';
import { exponential, Subscribe } from 'nestjs-settle';

interface Entry {
  readonly amount: number;
}

declare class Accounts {
  book(entry: Entry): Promise<void>;
}

@Injectable()
export class Ledger {
  @Subscribe({
    queue: 'ledger',
    queueType: 'quorum',
    prefetch: 100,
    singleActiveConsumer: true,
    retry: { attempts: 100, backoff: exponential('100ms', { max: '5s' }) },
    onError: 'retryAfter',
    order: { by: ({ headers }) => headers['account'] as string, hold: '1m' },
  })
  async book(entry: Entry): Promise<void> {
    await this.accounts.book(entry);
  }

  constructor(private readonly accounts: Accounts) {}
}
