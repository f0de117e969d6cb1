// @ts-check
import { connect } from 'amqplib';
import { job } from './program.mjs';

/** @typedef {import('amqplib').ConsumeMessage} ConsumeMessage */

/**
 * Consumes the job's queue with amqplib alone.
 *
 * @param {(message: ConsumeMessage, channel: import('amqplib').Channel) => void} receive
 * @param {import('amqplib').ChannelModel} [connection]
 * @returns {Promise<() => Promise<void>>} ends it
 */
export async function consume(receive, connection) {
  const own = connection ?? (await connect(job.uri));
  const channel = await own.createChannel();
  await channel.prefetch(job.prefetch);
  await channel.consume(job.queue, (message) => {
    if (message !== null) receive(message, channel);
  });
  return async () => {
    await channel.close();
    await own.close();
  };
}

/**
 * @param {ConsumeMessage} message
 * @returns {import('./handlers.mjs').Payload}
 */
export function payloadOf(message) {
  return JSON.parse(message.content.toString());
}

/**
 * Publishes copies the way the copies of nestjs-settle are published: mandatory, on a confirm channel, as many at once
 * as there are messages. `then` is called once the broker has the copy in a queue.
 *
 * @param {import('amqplib').ChannelModel} connection
 * @returns {Promise<(queue: string, message: ConsumeMessage, headers: Record<string, unknown>, then: () => void) => void>}
 */
export async function copier(connection) {
  const channel = await connection.createConfirmChannel();
  /** @type {Set<number>} */
  const returned = new Set();
  channel.on('return', (message) => returned.add(message.properties.headers['x-copy']));
  let number = 0;
  return (queue, { content, properties }, headers, then) => {
    number += 1;
    const copy = number;
    const { contentType, deliveryMode, messageId } = properties;
    const options = { contentType, deliveryMode, messageId, mandatory: true };
    channel.publish(
      '',
      queue,
      content,
      { ...options, headers: { ...properties.headers, ...headers, 'x-copy': copy } },
      (error) => {
        if (error || returned.delete(copy))
          throw new Error('a copy was not sent', { cause: error });
        then();
      },
    );
  };
}
