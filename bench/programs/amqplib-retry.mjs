// @ts-check
/**
 * amqplib alone, retrying by hand: a copy to the queue, or to a queue in which it waits, and the acknowledgement when
 * the broker has confirmed it. One connection, two headers.
 */
import { retryByHand } from './support/amqplib.mjs';
import { runProgram } from './support/program.mjs';

await runProgram((handle) =>
  retryByHand(handle, undefined, (_message, attempt) => ({ 'x-attempt': attempt })),
);
