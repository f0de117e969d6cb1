import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { fromServer } from '../support/proxy';

describe('a cancelled consumer that RabbitMQ does not confirm', async () => {
  const broker = await openBroker();

  it('ends its channel, so that the subscription can be resumed', async () => {
    const queue = unique('unanswered');
    const proxy = await openProxy();
    const handled: number[] = [];
    const Handler = handlerOf({ queue, queueType: 'quorum' }, (id: number) => {
      handled.push(id);
    });
    const { registry, log } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
    });
    const hold = proxy.hold(fromServer('basic.cancel-ok'), { onlyMatching: true });
    await registry.pause(Handler, 'handle');
    await until(() => log.matching(/has not confirmed within 10s/).length === 1);
    await broker.send(queue, 1);
    hold.release();
    await registry.resume(Handler, 'handle');
    await until(() => handled.length === 1);
    expect(handled).toEqual([1]);
  });
});
