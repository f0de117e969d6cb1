import { describe, expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique, withoutNagle } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { type FramePredicate, fromServer } from '../support/proxy';

const LOSSES = 5;

/** The pauses between the losses of a connection, in ms. */
function pausesBetween(losses: readonly number[]): number[] {
  return losses.slice(1).map((at, index) => at - (losses[index] ?? 0));
}

describe('a message that ends its connection', async () => {
  const broker = await openBroker();

  it.each([
    ['it is on its way', false],
    ['its handler starts', true],
  ])('is redelivered after growing pauses: the connection ends when %s', async (_when, isSeen) => {
    const [queue, other] = [unique('bad'), unique('neighbour')];
    const proxy = await openProxy();
    const losses: number[] = [];
    const done: number[] = [];
    const isDelivered = fromServer('basic.deliver', { routingKey: queue });
    if (!isSeen) {
      const recorded: FramePredicate = (frame) => isDelivered(frame) && losses.push(Date.now()) > 0;
      proxy.cutWhen(recorded, { before: true, times: LOSSES });
    }
    const Bad = handlerOf({ queue, prefetch: 1 }, async () => {
      if (losses.push(Date.now()) > LOSSES) return;
      proxy.cutAll();
      await new Promise(() => undefined);
    });
    const Neighbour = handlerOf({ queue: other, prefetch: 2 }, async (id: number) => {
      await new Promise((resolve) => setTimeout(resolve, 250));
      done.push(id);
    });
    const { log, settlements } = await startApp({
      providers: [Bad, { provide: 'neighbour', useClass: Neighbour }],
      rabbit: {
        uri: proxy.url,
        connectionManagerOptions: {
          reconnectTimeInSeconds: 0.05,
          connectionOptions: withoutNagle,
        },
      },
      settle: { shutdownTimeout: 500, abortGracePeriod: 0 },
    });
    await broker.send(queue, {}, { messageId: 'm-bad' });
    for (const id of [1, 2, 3, 4]) await broker.send(other, id);
    await until(() => losses.length > LOSSES, { timeoutMs: 20_000 });
    const pauses = pausesBetween(losses);
    for (const [index, least] of [100, 200, 400, 800, 1_600].entries()) {
      expect(pauses[index]).toBeGreaterThanOrEqual(least - 20);
    }
    await until(() => new Set(done).size === 4);
    const sent = (): number => settlements.filter(({ status }) => status === 'sent').length;
    await until(() => sent() === 5);
    const naming = log.matching(/\[channel-closed\] queue "bad.*"m-bad"/, ['error']);
    expect(naming).toHaveLength(isSeen ? LOSSES : 0);
  });
});
