// @ts-check
/** Nest's own RabbitMQ transport, acknowledging by hand as its documentation shows. */
import { runMicroservice } from './support/microservice.mjs';

await runMicroservice((handle) => async (payload, context) => {
  await handle(payload);
  context.getChannelRef().ack(context.getMessage());
});
