import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { SettleModule, Subscribe, SubscriptionRegistry } from '../../../lib/index';
import { SettleTest } from '../../../lib/testing/index';
import { RecordingLogger } from '../fixtures';

let test: SettleTest;
afterEach(() => test.close());

const ends: (() => void)[] = [];

@Injectable()
class Slow {
  @Subscribe({ queue: 'slow', prefetch: 2, retry: { attempts: 3 } })
  slow(): Promise<void> {
    return new Promise((resolve) => ends.push(resolve));
  }

  @Subscribe({ queue: 'slower', stuckAfter: '30m' })
  slower(): Promise<void> {
    return new Promise(() => undefined);
  }

  @Subscribe({ queue: 'unwatched', stuckAfter: false })
  unwatched(): Promise<void> {
    return new Promise(() => undefined);
  }

  @Subscribe({ queue: 'in-turn', concurrency: 1 })
  inTurn(): Promise<void> {
    return new Promise((resolve) => ends.push(resolve));
  }

  @Subscribe({ queue: 'lively' })
  lively(): void {}
}

async function start(): Promise<() => string[]> {
  ends.length = 0;
  const logger = new RecordingLogger();
  test = await SettleTest.create({
    imports: [
      RabbitMQModule.forRoot({ uri: 'amqp://nowhere.invalid' }),
      SettleModule.forRoot({ logger, shutdownTimeout: 100, abortGracePeriod: 0 }),
    ],
    providers: [Slow],
  }).compile();
  await test.advance('30s');
  return () => logger.texts('warn').filter((line) => line.includes('[stuck-delivery]'));
}

const registry = () => test.module.get(SubscriptionRegistry);

it('reports a delivery once that is in flight for five minutes, and counts it', async () => {
  const lines = await start();
  await test.publish('', 'slow', {}, { messageId: 'one' });
  await test.publish('', 'lively', {});
  await test.advance('4m');
  await test.publish('', 'slow', {}, { messageId: 'two' });
  await test.advance('59s');
  expect(lines()).toEqual([]);
  await test.advance('1s');
  expect(lines()).toEqual([
    `Slow.slow [stuck-delivery] message "one" (queue "slow", attempt 1 of 3): in flight for 5m. A handler that never ends occupies one of the prefetch slots; 'timeout' limits it.`,
  ]);
  expect(registry().inFlight()).toMatchObject([
    { queue: 'slow', messageId: 'one', attempt: 1, ageMs: 300_000, isStuck: true },
    { queue: 'slow', messageId: 'two', attempt: 1, ageMs: 60_000, isStuck: false },
  ]);
  await test.advance('3m');
  expect(lines()).toHaveLength(1);
  await test.advance('1m');
  expect(lines()).toHaveLength(2);
  await test.advance('1h');
  expect(lines()).toHaveLength(2);
  expect(registry().get(Slow, 'slow')).toMatchObject({ inFlight: 2, stuck: 2 });
  for (const end of ends) end();
  await test.advance('1s');
  expect(registry().inFlight()).toEqual([]);
  expect(registry().get(Slow, 'slow')).toMatchObject({ inFlight: 0, stuck: 2 });
});

it('takes the limit of the subscription, or none', async () => {
  const lines = await start();
  await test.publish('', 'slower', {});
  await test.publish('', 'unwatched', {});
  await test.advance('29m');
  expect(lines()).toEqual([]);
  await test.advance('1m');
  expect(lines()).toEqual([expect.stringMatching(/^Slow\.slower .* in flight for 30m\./)]);
  await test.advance('1d');
  expect(lines()).toHaveLength(1);
});

it('does not count the time that a delivery waits', async () => {
  const lines = await start();
  await test.publish('', 'in-turn', {}, { messageId: 'one' });
  await test.publish('', 'in-turn', {}, { messageId: 'two' });
  await test.advance('4m');
  ends[0]?.();
  await test.advance('4m');
  expect(lines()).toEqual([]);
  await test.advance('1m');
  expect(lines()).toEqual([expect.stringContaining('message "two"')]);
});
