import { expect, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { describeOn, itOn } from '../support/versions';

/** A feature that 4.3 no longer permits: it closes the connection on which such a queue is declared. */
const forbidden = { arguments: { 'x-queue-master-locator': 'min-masters' } };

itOn({ from: '4.3', because: 'earlier ones accept it' })(
  'a queue argument that the server no longer accepts is refused at startup, in one line',
  async () => {
    const queue = unique('arguments');
    const queueOptions = { arguments: { 'x-queue-version': 1 } };
    const Handler = handlerOf({ queue, queueOptions }, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      /^.*Handler\.handle: RabbitMQ refused to declare or consume queue "arguments.*invalid arg 'x-queue-version'.*$/m,
    );
  },
);

describeOn({ from: '4.3', because: 'earlier ones permit the feature' })(
  'a queue whose declaration closes the connection',
  async () => {
    const broker = await openBroker();

    it('is refused at startup, in one line with the class, the method and the feature', async () => {
      const queue = unique('forbidden');
      const Handler = handlerOf({ queue, queueOptions: forbidden }, () => undefined);
      const starting = startApp({ providers: [Handler] });
      await expect(starting).rejects.toThrow(
        /^.*Handler\.handle: RabbitMQ refused to declare or consume queue "forbidden.*Disabled until restart: .*Feature `queue_master_locator` is deprecated.*$/m,
      );
    });

    it('is declared twice and never again; other subscriptions keep consuming and are not blamed', async () => {
      const queue = unique('forbidden');
      const others = [unique('other'), unique('other')];
      const ran: string[] = [];
      const Forbidden = handlerOf({ queue, queueOptions: forbidden }, () => undefined);
      const handlers = others.map((name) => handlerOf({ queue: name }, () => void ran.push(name)));
      const { registry, log } = await startApp({
        providers: [Forbidden, ...handlers],
        settle: { onRefused: 'continue' },
        wait: false,
      });
      const stateOf = (type: (typeof handlers)[number]) => registry.get(type, 'handle').state;
      await until(() => stateOf(Forbidden) === 'refused', { timeoutMs: 20_000 });
      await until(() => handlers.every((type) => stateOf(type) === 'consuming'), {
        timeoutMs: 20_000,
      });
      const ends = (): number => log.matching(/\[(channel-closed|reconnecting)\]/).length;
      const before = ends();
      for (const name of others) await broker.send(name, 1);
      await until(() => ran.length === 2);
      expect(log.matching(/\[refused\]/, ['error'])).toHaveLength(1);
      // Longer than the delays between the first attempts.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(ends()).toBe(before);
      expect(stateOf(Forbidden)).toBe('refused');
    });
  },
);
