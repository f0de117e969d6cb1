// @ts-check
import { connect } from 'amqplib';
import { job } from './program.mjs';

/** @typedef {import('amqplib').ConsumeMessage} ConsumeMessage */
/** @typedef {import('amqplib').ChannelModel} Connection */

/**
 * Consumes the job's queue with amqplib alone.
 *
 * @param {(message: ConsumeMessage, channel: import('amqplib').Channel) => void} receive
 * @param {Connection} [connection]
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
 * The address of a message, as copies carry it.
 *
 * @param {ConsumeMessage} message
 * @returns {Record<string, unknown>}
 */
export function addressOf({ fields, properties: { headers = {} } }) {
  return {
    'x-queue': job.queue,
    'x-exchange': headers['x-exchange'] ?? fields.exchange,
    'x-routing-key': headers['x-routing-key'] ?? fields.routingKey,
  };
}

/**
 * Retries by hand: a copy to the queue, or to a queue in which it waits, and the acknowledgement on its confirm.
 *
 * @param {import('./program.mjs').Handle} handle
 * @param {Connection | undefined} publishing a connection for the copies, if they have one of their own
 * @param {(message: ConsumeMessage, attempt: number) => Record<string, unknown>} headersOf
 * @returns {Promise<() => Promise<void>>} ends it
 */
export async function retryByHand(handle, publishing, headersOf) {
  const connection = await connect(job.uri);
  const copy = await copier(publishing ?? connection);
  const target = job.delayMs ? await declareWaiting(connection, job.delayMs) : job.queue;
  return consume((message, channel) => {
    try {
      handle(payloadOf(message));
    } catch {
      const attempt = Number(message.properties.headers?.['x-attempt'] ?? 1) + 1;
      copy(target, message, headersOf(message, attempt), () => channel.ack(message));
      return;
    }
    channel.ack(message);
  }, connection);
}

/**
 * Dead-letters by hand: a copy to the dead-letter queue, and the acknowledgement on its confirm.
 *
 * @param {import('./program.mjs').Handle} handle
 * @param {Connection | undefined} publishing a connection for the copies, if they have one of their own
 * @param {(message: ConsumeMessage, error: Error) => Record<string, unknown>} headersOf
 * @returns {Promise<() => Promise<void>>} ends it
 */
export async function deadLetterByHand(handle, publishing, headersOf) {
  const connection = await connect(job.uri);
  const copy = await copier(publishing ?? connection);
  return consume((message, channel) => {
    try {
      handle(payloadOf(message));
    } catch (error) {
      const headers = headersOf(message, /** @type {Error} */ (error));
      copy(job.dead, message, headers, () => channel.ack(message));
      return;
    }
    channel.ack(message);
  }, connection);
}

/**
 * @param {Connection} connection
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

/**
 * Publishes copies the way the copies of nestjs-settle are published: mandatory, on a confirm channel, as many at once
 * as there are messages. `then` is called once the broker has the copy in a queue.
 *
 * @param {Connection} connection
 * @returns {Promise<(queue: string, message: ConsumeMessage, headers: Record<string, unknown>, then: () => void) => void>}
 */
async function copier(connection) {
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
