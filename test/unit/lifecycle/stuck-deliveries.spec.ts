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
  await test.advance('59s');
  expect(warnings()).toEqual([]);
  await test.advance('1s');
  expect(warnings()).toHaveLength(1);
  expect(warnings()[0]).toMatch(
    /^Never\.handle \[stuck-delivery\] queue "stuck": the oldest of 2 messages .* for 1m\./,
  );
  await test.advance('59s');
  expect(warnings()).toHaveLength(1);
  await test.advance('1s');
  expect(warnings()).toHaveLength(2);
  expect(warnings()[1]).toMatch(/for 2m\./);
});

it('counts the minute of each subscription from its own oldest message', async () => {
  @Injectable()
  class Never {
    @Subscribe({ queue: 'first' })
    first(): Promise<void> {
      return new Promise(() => undefined);
    }

    @Subscribe({ queue: 'second' })
    second(): Promise<void> {
      return new Promise(() => undefined);
    }
  }
  const logger = new RecordingLogger();
  test = await SettleTest.create({
    imports: [
      RabbitMQModule.forRoot({ uri: 'amqp://nowhere.invalid' }),
      SettleModule.forRoot({ logger, shutdownTimeout: 100, abortGracePeriod: 0 }),
    ],
    providers: [Never],
  }).compile();
  const handlers = (): (string | undefined)[] =>
    logger
      .texts('warn')
      .filter((line) => line.includes('[stuck-delivery]'))
      .map((line) => line.split(' ')[0]);
  await test.publish('', 'first', {});
  await test.advance('45s');
  await test.publish('', 'second', {});
  await test.advance('15s');
  expect(handlers()).toEqual(['Never.first']);
  await test.advance('45s');
  expect(handlers()).toEqual(['Never.first', 'Never.second']);
  await test.advance('15s');
  expect(handlers()).toEqual(['Never.first', 'Never.second', 'Never.first']);
});

it('counts the minute of each message that becomes the oldest', async () => {
  const ends: (() => void)[] = [];
  @Injectable()
  class Slow {
    @Subscribe({ queue: 'slow' })
    handle(): Promise<void> {
      return new Promise((resolve) => ends.push(resolve));
    }
  }
  const logger = new RecordingLogger();
  test = await SettleTest.create({
    imports: [
      RabbitMQModule.forRoot({ uri: 'amqp://nowhere.invalid' }),
      SettleModule.forRoot({ logger, shutdownTimeout: 100, abortGracePeriod: 0 }),
    ],
    providers: [Slow],
  }).compile();
  const stuck = (): string[] =>
    logger.texts('warn').filter((line) => line.includes('[stuck-delivery]'));
  await test.publish('', 'slow', {});
  await test.advance('10s');
  await test.publish('', 'slow', {});
  await test.advance('50s');
  expect(stuck()).toHaveLength(1);
  ends[0]?.();
  await test.advance('9s');
  expect(stuck()).toHaveLength(1);
  await test.advance('1s');
  expect(stuck()).toHaveLength(2);
  expect(stuck()[1]).toMatch(/for 1m\./);
});
