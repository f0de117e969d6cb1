import { describe, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)(
  'closing with pending acknowledgements, %s queue',
  async (queueType) => {
    const broker = await openBroker();

    it.each([60, 250, 250, 1_000, 1_000])(
      'sends all of %i acknowledgements before the channel closes',
      async (messages) => {
        const queue = unique('closing');
        await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
        await Promise.all(Array.from({ length: messages }, (_, id) => broker.send(queue, id)));
        let started = 0;
        const [first, others] = [new Gate(), new Gate()];
        const Handler = handlerOf(
          { queue, queueType, prefetch: messages },
          async (id: number, { signal }) => {
            started += 1;
            if (id === 0) signal.addEventListener('abort', () => others.open());
            await (id === 0 ? first : others).promise;
          },
        );
        // The signal aborts when the consumer has just been cancelled.
        const { close } = await startApp({
          providers: [Handler],
          settle: { shutdownTimeout: 20_000, abortGracePeriod: 19_700 },
        });
        await until(() => started === messages);
        const closing = close();
        await others.promise;
        // While the oldest delivery is unsettled, each acknowledgement is a frame of its own.
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        first.open();
        await closing;
        await broker.waitForReady(queue, 0, 1_000);
      },
      60_000,
    );
  },
);
