import type { TopologyClient } from '../amqp/topology-client';
import { sleep, systemClock } from '../clock';
import { serverVersionOf } from './managed-connection';
import type { RawChannel, RawConnection } from './types';

/**
 * How long the number of a channel that the server has closed is left alone, in ms: amqplib reuses it at
 * once, and under load its `channel.open` overtakes the `channel.close-ok` before it, which ends the
 * connection.
 */
const REOPENING_PAUSE = 10;

/**
 * Does something on a channel of its own: what the broker refuses there ends that channel only.
 * Rejects with the broker's error.
 */
export async function onScratchChannel<T>(
  connection: RawConnection,
  work: (channel: RawChannel) => Promise<T>,
): Promise<T> {
  const channel = await connection.createChannel();
  let failure: Error | undefined;
  channel.on('error', (error: Error) => {
    failure = error; // The call that caused it rejects with the same error.
  });
  const ended = new Promise<void>((resolve) => channel.once('close', () => resolve()));
  try {
    return await work(channel);
  } finally {
    // A connection that breaks meanwhile ends the channel without an answer to the close.
    if (failure === undefined) await Promise.race([channel.close().catch(() => undefined), ended]);
    else await sleep(systemClock, REOPENING_PAUSE);
  }
}

/** Declares and checks on a connection to RabbitMQ, each call on a scratch channel. */
export function topologyClientOf(connection: RawConnection): TopologyClient {
  return {
    version: serverVersionOf(connection),
    checkQueue: (queue) => onScratchChannel(connection, (channel) => channel.checkQueue(queue)),
    assertQueue: (queue, declaration) =>
      onScratchChannel(connection, async (channel) => {
        const made = await channel.assertQueue(queue, declaration);
        return made.queue;
      }),
    bindQueue: (queue, exchange, routingKey, args) =>
      onScratchChannel(connection, (channel) =>
        channel.bindQueue(queue, exchange, routingKey, args),
      ),
    checkExchange: (exchange) =>
      onScratchChannel(connection, (channel) => channel.checkExchange(exchange)),
  };
}
