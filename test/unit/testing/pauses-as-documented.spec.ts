import { Injectable } from '@nestjs/common';
import { expect, it } from 'vitest';
import { pauseFor, Subscribe, SubscriptionRegistry } from '../../../lib';
import { start } from './app';

let isDown = false;

@Injectable()
class Billing {
  @Subscribe({ queue: 'billing', retry: { attempts: 5 }, killSwitch: {} })
  charge() {
    return isDown ? pauseFor('30s') : undefined;
  }
}

it('trips a kill switch, and closes it after the pause', async () => {
  const test = await start({ providers: [Billing] });
  test.trip(Billing, 'charge');
  await test.publish('', 'billing', { id: 'A-1' });
  await test.advance('29s');
  expect(test.settlements(Billing, 'charge')).toEqual([]);
  await test.advance('1s');
  await test.idle();
  expect(test.settlements(Billing, 'charge')).toMatchObject([{ outcome: 'ack', attempt: 1 }]);
});

it('pauses and resumes as outside of tests', async () => {
  const test = await start({ providers: [Billing] });
  const registry = test.get<SubscriptionRegistry>(SubscriptionRegistry);
  await registry.pause(Billing, 'charge');
  await test.publish('', 'billing', { id: 'A-2' });
  await test.advance('1h');
  expect((await test.queue('billing')).ready).toBe(1);
  await registry.resume(Billing, 'charge');
  await test.idle();
  expect(test.settlements(Billing, 'charge')).toMatchObject([{ outcome: 'ack' }]);
});

it('advances to the end of a pauseFor()', async () => {
  isDown = true;
  const test = await start({ providers: [Billing] });
  const first = await test.deliver(Billing, 'charge', { id: 'A-3' });
  expect(first).toMatchObject({ outcome: 'pauseFor', decision: 'requeue', attempt: 1 });
  isDown = false;
  await test.advance('29s');
  expect(test.settlements(Billing, 'charge')).toHaveLength(1);
  await test.advance('1s');
  await test.idle();
  const last = test.settlements(Billing, 'charge').at(-1);
  expect(last).toMatchObject({ outcome: 'ack', attempt: 1 });
});
