// The snippets of docs/batches.md.
import { Injectable } from '@nestjs/common';
import { type Delivery, drop, exponential, type Outcome, Subscribe } from 'nestjs-settle';
import type { SettleTest } from 'nestjs-settle/testing';
import { expect } from 'vitest';

interface Reading {
  readonly sensor: string;
}

declare class Database {
  insert(readings: readonly Reading[]): Promise<Set<string>>;
}

@Injectable()
export class Readings {
  @Subscribe({
    queue: 'readings',
    queueType: 'quorum',
    retry: { attempts: 5, backoff: exponential('1s', { max: '1m' }) },
    deadLetter: 'readings.dead',
    onError: 'retryAfter',
    batch: { size: 100, wait: '200ms' },
  })
  async store(
    readings: readonly Reading[],
    deliveries: readonly Delivery<Reading>[],
  ): Promise<(Outcome | undefined)[]> {
    const unknown = await this.database.insert(readings);
    return deliveries.map(({ payload }) =>
      unknown.has(payload.sensor) ? drop('unknown sensor') : undefined,
    );
  }

  constructor(private readonly database: Database) {}
}

export async function inATest(test: SettleTest): Promise<void> {
  const rows = [{ sensor: 'a' }, { sensor: '?' }];
  const settlements = await test.deliverBatch(Readings, 'store', rows);
  expect(settlements).toMatchObject([{ outcome: 'ack' }, { outcome: 'drop', batchSize: 2 }]);
}
