import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { SettleStartupError, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { managed, waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';

describe.each(['classic', 'quorum'] as const)(
  'a fixed consumer tag on a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    it('survives five forced reconnects, a pause and a resume', async () => {
      const queue = unique('tag');
      const consumerTag = `${queue}.tag`;
      const proxy = await openProxy();
      const seen = new Set<number>();
      const Handler = handlerOf(
        { queue, queueType, queueOptions: { consumerOptions: { consumerTag } } },
        (id: number) => {
          seen.add(id);
        },
      );
      const { registry } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      for (let round = 1; round <= 5; round += 1) {
        proxy.cutAll();
        await broker.send(queue, round);
        await until(() => seen.has(round));
        await waitForEmpty(queue);
      }
      await registry.pause(Handler, 'handle');
      await registry.resume(Handler, 'handle');
      await broker.send(queue, 6);
      await until(() => seen.has(6));
      await until(async () => {
        const consumers = (await managed().consumers()).filter((one) => one.queue === queue);
        return consumers.length === 1 && consumers[0]?.tag === consumerTag;
      });
      // NOT_ALLOWED would close the connection.
      expect(proxy.frames.filter(fromServer('connection.close'))).toEqual([]);
    });
  },
);

it('used by two methods is refused at startup, with both names', async () => {
  const queueOptions = { consumerOptions: { consumerTag: unique('tag') } };

  @Injectable()
  class Billing {
    @Subscribe({ queue: unique('one'), queueOptions })
    charge(): void {}

    @Subscribe({ queue: unique('two'), queueOptions })
    refund(): void {}
  }
  const started = startApp({ providers: [Billing] });
  await expect(started).rejects.toBeInstanceOf(SettleStartupError);
  await expect(started).rejects.toThrow(/Billing\.refund.*consumerTag.*Billing\.charge/);
});
