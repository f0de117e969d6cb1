// @ts-check
/** rabbitmq-client, which acknowledges when the handler has ended. */
import { Connection } from 'rabbitmq-client';
import { job, runProgram } from './support/program.mjs';

await runProgram(async (handle) => {
  const { uri, queue, prefetch: prefetchCount } = job;
  const rabbit = new Connection(uri);
  const options = { queue, queueOptions: { passive: true }, qos: { prefetchCount } };
  const consumer = rabbit.createConsumer(
    options,
    async (/** @type {{ body: import('./support/handlers.mjs').Payload }} */ { body }) => {
      await handle(body);
    },
  );
  consumer.on('error', (/** @type {unknown} */ error) => console.error(error));
  return async () => {
    await consumer.close();
    await rabbit.close();
  };
});
