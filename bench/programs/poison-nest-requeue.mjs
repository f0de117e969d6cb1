// @ts-check
/** Nest's own RabbitMQ transport with a handler that puts a message back that fails. */
import { runMicroservice } from './support/microservice.mjs';

await runMicroservice((handle) => async (payload, context) => {
  const channel = context.getChannelRef();
  try {
    await handle(payload);
  } catch {
    channel.nack(context.getMessage());
    return;
  }
  channel.ack(context.getMessage());
});
