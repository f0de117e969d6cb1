import { describe, expect, it } from 'vitest';
import { type Delivery, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { Broker, management, unique } from '../support/broker';
import { handlerOf } from '../support/handlers';

describe('a restart of the broker', () => {
  it('keeps waiting messages, with their properties', { timeout: 90_000 }, async () => {
    const names = { classic: unique('restart'), quorum: unique('restart') };
    const seen: Delivery[] = [];
    const at: number[] = [];
    const providers = (['classic', 'quorum'] as const).map((queueType) =>
      handlerOf({ queue: names[queueType], queueType, retry: { attempts: 2 } }, (_p, delivery) => {
        seen.push(delivery);
        at.push(Date.now());
        return delivery.attempt === 1 ? retryAfter('3s') : undefined;
      }),
    );
    const app = await startApp({ providers });
    const before = await Broker.connect();
    const options = { persistent: true, messageId: 'm1', type: 'order.paid', priority: 3 };
    await before.send(names.classic, { id: 1 }, options);
    await before.send(names.quorum, { id: 1 }, options);
    await app.settled(2);
    await before.close();
    await management.restartNode();
    await app.settled(4, 60_000);
    for (const queue of Object.values(names)) {
      const runs = seen.filter((delivery) => delivery.queue === queue);
      expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]);
      const [first, second] = runs.map(({ message }) => message);
      expect(second?.properties).toMatchObject({ ...first?.properties, headers: {} });
      expect(second?.properties.deliveryMode).toBe(2);
      expect(second?.content.toString()).toBe('{"id":1}');
      const [one, two] = seen.flatMap((each, index) =>
        each.queue === queue ? [at[index] ?? 0] : [],
      );
      expect((two ?? 0) - (one ?? 0)).toBeGreaterThanOrEqual(3_000);
    }
    expect(app.settlements).toHaveLength(4);
  });
});
