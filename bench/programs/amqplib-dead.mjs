// @ts-check
/**
 * amqplib alone, dead-lettering by hand: a copy with what went wrong in its headers, and the acknowledgement when the
 * broker has confirmed it.
 */
import { connect } from 'amqplib';
import { consume, copier, payloadOf } from './support/amqplib.mjs';
import { job, runProgram } from './support/program.mjs';

await runProgram(async (handle) => {
  const connection = await connect(job.uri);
  const copy = await copier(connection);
  return consume((message, channel) => {
    try {
      handle(payloadOf(message));
    } catch (error) {
      copy(job.dead, message, diagnosticsOf(error), () => channel.ack(message));
      return;
    }
    channel.ack(message);
  }, connection);
});

/**
 * @param {unknown} error
 * @returns {Record<string, unknown>}
 */
function diagnosticsOf(error) {
  const { name, message } = /** @type {Error} */ (error);
  return {
    'x-reason': 'error',
    'x-error-name': name,
    'x-error-message': message.slice(0, 1024),
    'x-attempts-made': 1,
    'x-failed-at': Date.now(),
    'x-handler': 'bench',
    'x-queue': job.queue,
  };
}
