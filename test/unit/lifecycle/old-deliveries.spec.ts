import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { SettleModule, Subscribe } from '../../../lib/index';
import { SettleTest } from '../../../lib/testing/index';
import { RecordingLogger } from '../fixtures';

let test: SettleTest;
afterEach(() => test.close());

it('a handler that never ends is told of every minute, with its queue and its age', async () => {
  @Injectable()
  class Never {
    @Subscribe({ queue: 'stuck', prefetch: 2 })
    handle(): Promise<void> {
      return new Promise(() => undefined);
    }

    @Subscribe({ queue: 'lively' })
    lively(): void {}
  }
  const logger = new RecordingLogger();
  const told = (): string[] => logger.texts('warn').filter((text) => /in flight for/.test(text));
  test = await SettleTest.create({
    imports: [
      RabbitMQModule.forRoot({ uri: 'amqp://nowhere.invalid' }),
      SettleModule.forRoot({ logger, shutdownTimeout: 100, abortGracePeriod: 0 }),
    ],
    providers: [Never],
  }).compile();
  await test.advance('30s');
  await test.publish('', 'stuck', {});
  await test.publish('', 'stuck', {});
  await test.publish('', 'lively', {});
  await test.advance('30s');
  expect(told()).toEqual([]);
  await test.advance('60s');
  expect(told()).toHaveLength(1);
  expect(told()[0]).toMatch(/^Never\.handle: queue "stuck": .* in flight for 90 s, 2 in all/);
  await test.advance('60s');
  expect(told()).toHaveLength(2);
  expect(told()[1]).toMatch(/for 150 s/);
});
