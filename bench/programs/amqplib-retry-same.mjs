// @ts-check
/**
 * amqplib alone, retrying by hand as this package does: copies on a connection of their own, with as many headers.
 */
import { connect } from 'amqplib';
import { addressOf, retryByHand } from './support/amqplib.mjs';
import { job, runProgram } from './support/program.mjs';

await runProgram(async (handle) => {
  const publishing = await connect(job.uri);
  const end = await retryByHand(handle, publishing, (message, attempt) => ({
    'x-attempt': attempt,
    'x-first-failed-at': message.properties.headers?.['x-first-failed-at'] ?? now(),
    ...addressOf(message),
  }));
  return async () => {
    await end();
    await publishing.close();
  };
});

function now() {
  return new Date().toISOString();
}
