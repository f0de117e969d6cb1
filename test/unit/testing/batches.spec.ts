import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, drop, fixed, type Outcome, retryAfter, Subscribe } from '../../../lib';
import { start } from './app';

@Injectable()
class Import {
  readonly batches: (readonly string[])[] = [];

  @Subscribe({
    queue: 'rows',
    deadLetter: 'rows.dead',
    retry: { attempts: 2, backoff: fixed('1m') },
    batch: { size: 3, wait: '10s' },
  })
  handle(rows: readonly string[], deliveries: readonly Delivery[]): (Outcome | undefined)[] {
    this.batches.push(rows);
    return deliveries.map(({ payload }) => {
      if (payload === 'later') return retryAfter();
      return payload === 'bad' ? drop('bad row') : undefined;
    });
  }
}

describe('batches in a test', () => {
  it('deliverBatch() resolves with the settlement of each, and flushes what is incomplete', async () => {
    const test = await start({ providers: [Import] });
    const settlements = await test.deliverBatch(Import, 'handle', ['a', 'bad', 'b', 'later']);
    expect(settlements).toMatchObject([
      { outcome: 'ack', batchSize: 3, payload: 'a' },
      { outcome: 'drop', reason: 'drop', batchSize: 3 },
      { outcome: 'ack', batchSize: 3 },
      { outcome: 'retryAfter', batchSize: 1, delay: 60_000 },
    ]);
    await test.advance('1m');
    expect(test.get(Import).batches).toEqual([['a', 'bad', 'b'], ['later'], ['later']]);
    expect((await test.queue('rows.dead')).messages.map(({ payload }) => payload)).toEqual([
      'bad',
      'later',
    ]);
  });

  it('deliver() is a batch of one; advance() lets the first message wait for others', async () => {
    const test = await start({ providers: [Import] });
    expect(await test.deliver(Import, 'handle', 'one')).toMatchObject({ batchSize: 1 });
    await test.publish('', 'rows', 'a');
    await test.advance('6s');
    await test.publish('', 'rows', 'b');
    await test.advance('3s');
    expect(test.get(Import).batches).toEqual([['one']]);
    await test.advance('1s');
    expect(test.get(Import).batches).toEqual([['one'], ['a', 'b']]);
  });
});
