import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { SubscriptionEvents, type SubscriptionStateChange } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe('SubscriptionEvents', async () => {
  const broker = await openBroker();

  it('reports every change of a state and of the cause of a pause, from the start to the end', async () => {
    const queue = unique('events');
    const handled: unknown[] = [];
    const Handler = handlerOf({ queue }, (payload) => handled.push(payload));
    const changes: SubscriptionStateChange[] = [];
    let isCompleted = false;
    @Injectable()
    class Listener {
      constructor(events: SubscriptionEvents) {
        events.subscribe(() => {
          throw new Error('bad listener');
        });
        events.subscribe({
          next: (change) => changes.push(change),
          complete: () => {
            isCompleted = true;
          },
        });
      }
    }
    const app = await startApp({ providers: [Handler, Listener] });
    const status = () => app.registry.get(Handler, 'handle');
    await app.registry.pause(Handler, 'handle');
    expect(status()).toMatchObject({ state: 'paused', cause: 'operator' });
    await broker.send(queue, 1);
    await app.registry.resume(Handler, 'handle');
    await until(() => handled.length === 1);
    await until(() => status().state === 'consuming');
    expect(status()).not.toHaveProperty('cause');
    await app.close();
    const { subscription } = status();
    expect(changes.map(({ from, to, cause }) => [from, to, cause])).toEqual([
      ['starting', 'consuming', undefined],
      ['consuming', 'paused', 'operator'],
      ['paused', 'reconnecting', undefined],
      ['reconnecting', 'consuming', undefined],
      ['consuming', 'stopped', undefined],
    ]);
    for (const change of changes) {
      expect(change.subscription).toBe(subscription);
      expect(change.at).toBeInstanceOf(Date);
    }
    expect(isCompleted).toBe(true);
    expect(app.log.matching(/a subscriber of SubscriptionEvents threw/, ['error']).length).toBe(5);
  });
});
