// @ts-check
/**
 * amqplib alone, dead-lettering by hand: a copy with what went wrong in its headers, and the acknowledgement when the
 * broker has confirmed it. One connection, two headers.
 */
import { deadLetterByHand } from './support/amqplib.mjs';
import { runProgram } from './support/program.mjs';

await runProgram((handle) =>
  deadLetterByHand(handle, undefined, (_message, { message }) => ({
    'x-error-message': message.slice(0, 1024),
  })),
);
