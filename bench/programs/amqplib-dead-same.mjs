// @ts-check
/**
 * amqplib alone, dead-lettering by hand as this package does: copies on a connection of their own, with as many headers.
 */
import { connect } from 'amqplib';
import { addressOf, deadLetterByHand } from './support/amqplib.mjs';
import { job, runProgram } from './support/program.mjs';

await runProgram(async (handle) => {
  const publishing = await connect(job.uri);
  const end = await deadLetterByHand(handle, publishing, (delivered, { name, message }) => {
    const now = new Date().toISOString();
    return {
      'x-reason': 'error',
      'x-error-name': name,
      'x-error-message': message.slice(0, 1024),
      'x-attempts-made': 1,
      'x-first-failed-at': now,
      'x-failed-at': now,
      'x-handler': 'bench',
      ...addressOf(delivered),
    };
  });
  return async () => {
    await end();
    await publishing.close();
  };
});
