// @ts-check
/** amqplib alone, one acknowledgement a message. */
import { consume, payloadOf } from './support/amqplib.mjs';
import { runProgram } from './support/program.mjs';

await runProgram((handle) =>
  consume((message, channel) => {
    const result = handle(payloadOf(message));
    if (result === undefined) channel.ack(message);
    else result.then(() => channel.ack(message));
  }),
);
