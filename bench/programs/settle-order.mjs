// @ts-check
/** nestjs-settle with nothing but a queue, in the order of 1 000 keys. */
import { runSettle } from './support/settle-app.mjs';

/** The last digits of the id, without reading the JSON of the message twice. */
const by = (/** @type {import('nestjs-settle').Delivery} */ { message }) => {
  const id = /"id":(\d+)/.exec(message.content.toString('latin1', 0, 64))?.[1] ?? '';
  return id.slice(-3);
};

await runSettle({ options: { order: { by, instances: 1 } } });
