import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Subscribe, type SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

describe('options of the consumer', async () => {
  const broker = await openBroker();

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'singleActiveConsumer: one of two applications gets the messages, the other one when it pauses (%s)',
    async (queueType) => {
      const queue = unique('single-active');
      const options = { queue, queueType, singleActiveConsumer: true };
      const seen: string[] = [];
      const handler = (name: string) =>
        handlerOf(options, () => {
          seen.push(name);
        });
      const First = handler('first');
      const { registry } = await startApp({ providers: [First] });
      await startApp({ providers: [handler('second')] });
      for (const payload of [1, 2, 3, 4]) await broker.send(queue, payload);
      await until(() => seen.length === 4);
      await registry.pause(First, 'handle');
      await broker.send(queue, 5);
      await until(() => seen.length === 5);
      expect(seen).toEqual(['first', 'first', 'first', 'first', 'second']);
    },
  );

  it('consumerPriority: the consumer of the higher priority gets the messages', async () => {
    const queue = unique('priority');
    const seen: string[] = [];
    const handler = (name: string, consumerPriority?: number) => {
      const options: AcknowledgedOptions = { queue };
      return handlerOf(
        consumerPriority === undefined ? options : { ...options, consumerPriority },
        () => {
          seen.push(name);
        },
      );
    };
    await startApp({ providers: [handler('plain')] });
    await startApp({ providers: [handler('preferred', 5)] });
    for (const payload of [1, 2, 3, 4]) await broker.send(queue, payload);
    await until(() => seen.length === 4);
    expect(seen).toEqual(Array(4).fill('preferred'));
  });

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'consumerTimeout is accepted on every release (%s)',
    async (queueType) => {
      const queue = unique('consumer-timeout');
      const options: SubscribeOptions = { queue, queueType, consumerTimeout: '2m' };
      @Injectable()
      class Handler {
        @Subscribe(options)
        handle(): void {}
      }
      const { registry } = await startApp({ providers: [Handler] });
      expect(registry.get(Handler, 'handle').state).toBe('consuming');
    },
  );

  it.each<[string, Partial<SubscribeOptions>, RegExp]>([
    [
      'an option beside its argument',
      {
        consumerPriority: 3,
        queueOptions: { consumerOptions: { arguments: { 'x-priority': 3 } } },
      } as never,
      /consumerPriority: expected this option or the argument 'x-priority' in queueOptions, not both; found 3/,
    ],
    [
      'a timeout that RabbitMQ does not support',
      { consumerTimeout: '30s' },
      /consumerTimeout: expected .* at least one minute; found '30s'/,
    ],
    [
      'a single active consumer that is exclusive',
      {
        singleActiveConsumer: true,
        queueOptions: { consumerOptions: { exclusive: true } },
      } as never,
      /singleActiveConsumer: expected false, or no exclusive consumer/,
    ],
  ])('%s: a startup error', async (_what, options, fault) => {
    const Handler = handlerOf({ queue: unique('options'), ...options } as never, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(fault);
  });
});
