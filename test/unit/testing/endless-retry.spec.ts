import { Injectable } from '@nestjs/common';
import { expect, it } from 'vitest';
import { type Outcome, retry, Subscribe } from '../../../lib';
import { start } from './app';

it('endless immediate retries do not block the event loop', async () => {
  @Injectable()
  class Endless {
    runs = 0;

    @Subscribe({ queue: 'endless' })
    again(): Outcome | void {
      this.runs += 1;
      if (this.runs < 5_000) return retry();
    }
  }
  const test = await start({ providers: [Endless] });
  const endless = test.get(Endless);
  let turns = 0;
  const count = (): void => {
    turns += 1;
    if (endless.runs < 5_000) setImmediate(count);
  };
  await test.publish('', 'endless', 1);
  count();
  await test.idle();
  expect(endless.runs).toBe(5_000);
  expect(turns).toBeGreaterThan(1_000);
});
