// @ts-check
/**
 * amqplib alone, retrying by hand: a copy to the queue, or to a queue in which it waits, and the acknowledgement when
 * the broker has confirmed it.
 */
import { connect } from 'amqplib';
import { consume, copier, payloadOf } from './support/amqplib.mjs';
import { job, runProgram } from './support/program.mjs';

await runProgram(async (handle) => {
  const connection = await connect(job.uri);
  const copy = await copier(connection);
  const target = job.delayMs ? await declareWaiting(connection, job.delayMs) : job.queue;
  return consume((message, channel) => {
    try {
      handle(payloadOf(message));
    } catch {
      const attempt = Number(message.properties.headers?.['x-attempt'] ?? 1) + 1;
      copy(target, message, { 'x-attempt': attempt }, () => channel.ack(message));
      return;
    }
    channel.ack(message);
  }, connection);
});

/**
 * @param {import('amqplib').ChannelModel} connection
 * @param {number} delayMs
 * @returns {Promise<string>}
 */
async function declareWaiting(connection, delayMs) {
  const channel = await connection.createChannel();
  const queue = `${job.queue}.wait.${delayMs}`;
  const quorum = { 'x-dead-letter-strategy': 'at-least-once', 'x-overflow': 'reject-publish' };
  await channel.assertQueue(queue, {
    durable: true,
    arguments: {
      'x-queue-type': job.queueType,
      'x-message-ttl': delayMs,
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': job.queue,
      ...(job.queueType === 'quorum' && quorum),
    },
  });
  await channel.close();
  return queue;
}
