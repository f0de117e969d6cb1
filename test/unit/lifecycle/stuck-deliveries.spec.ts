import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable } from '@nestjs/common';
import { afterEach, expect, it } from 'vitest';
import { SettleModule, Subscribe } from '../../../lib/index';
import { SettleTest } from '../../../lib/testing/index';
import { RecordingLogger } from '../fixtures';

let test: SettleTest;
afterEach(() => test.close());

it('warns every minute of a handler that never ends, with its queue and age', async () => {
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
  const warnings = (): string[] => logger.texts('warn');
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
  expect(warnings()).toEqual([]);
  await test.advance('60s');
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toMatch(
    /^Never\.handle \[stuck-delivery\] queue "stuck": the oldest of 2 messages .* for 1m30s\./,
  );
  await test.advance('60s');
  expect(warnings()).toHaveLength(2);
  expect(warnings()[1]).toMatch(/for 2m30s\./);
});
