import { describe, it } from 'vitest';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const MESSAGES = 4_000;

describe.each(['classic', 'quorum'] as const)('a %s queue', async (queueType) => {
  const broker = await openBroker();

  it.each([1, 2, 3])(
    'has every acknowledgement that was written before the channel closed (%i)',
    async () => {
      const queue = unique('closing');
      await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
      await Promise.all(Array.from({ length: MESSAGES }, (_, id) => broker.send(queue, id)));
      let begun = 0;
      const [first, others] = [new Gate(), new Gate()];
      const Handler = handlerOf(
        { queue, queueType, prefetch: MESSAGES },
        async (id: number, { signal }) => {
          begun += 1;
          if (id === 0) signal.addEventListener('abort', () => others.open());
          await (id === 0 ? first : others).promise;
        },
      );
      // The signal aborts when the intake has just stopped.
      const { close } = await startApp({
        providers: [Handler],
        settle: { shutdownTimeout: 20_000, abortBefore: 19_700 },
      });
      await until(() => begun === MESSAGES);
      const closing = close();
      await others.promise;
      // While the oldest is unsettled, each acknowledgement goes in a frame of its own.
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
      first.open();
      await closing;
      await broker.waitForReady(queue, 0, 1_000);
    },
    60_000,
  );
});
