// @ts-check
/**
 * amqplib alone, one `multiple` acknowledgement a turn of the event loop, over the messages without a gap that have
 * been handled: the limit for Node.
 */
import { consume, payloadOf } from './support/amqplib.mjs';
import { runProgram } from './support/program.mjs';

/** @typedef {import('amqplib').ConsumeMessage} ConsumeMessage */

await runProgram((handle) => {
  /**
   * Messages that were handled before an earlier one was.
   *
   * @type {Map<number, ConsumeMessage>}
   */
  const early = new Map();
  let nextTag = 1;
  /** @type {ConsumeMessage | undefined} */
  let last;
  return consume((message, channel) => {
    const flush = () => {
      const upTo = last;
      last = undefined;
      if (upTo !== undefined) channel.ack(upTo, true);
    };
    const handled = () => {
      const { deliveryTag } = message.fields;
      if (deliveryTag !== nextTag) {
        early.set(deliveryTag, message);
        return;
      }
      if (last === undefined) setImmediate(flush);
      last = message;
      nextTag += 1;
      for (let next = early.get(nextTag); next !== undefined; next = early.get(nextTag)) {
        early.delete(nextTag);
        last = next;
        nextTag += 1;
      }
    };
    const result = handle(payloadOf(message));
    if (result === undefined) handled();
    else result.then(handled);
  });
});
