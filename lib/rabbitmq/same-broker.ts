import { type Clock, resultWithin, sleep } from '../clock';
import { clusterOf } from './peer';
import { onScratchChannel } from './scratch-channel';
import type { RawConnection } from './types';

/** How long each server may take to answer, in ms. */
const ANSWER_LIMIT = 5_000;
/** How often a node that does not know of the queue yet is asked. */
const MOST_QUESTIONS = 3;
const PAUSE = 50;
/** After how long without use RabbitMQ deletes the queue, in ms, if it could not be deleted. */
const QUEUE_EXPIRY = 60_000;

/**
 * Whether two connections lead to the same virtual host of the same broker, through whatever node of it:
 * a server-named queue that one of them declares is known to the other. The names of clusters alone don't
 * tell: nodes of one cluster report names of their own unless it was named, and two brokers can have the
 * same name. They decide only if the queue can't be declared, for want of a permission for example.
 */
export async function isSameBroker(
  one: RawConnection | undefined,
  other: RawConnection,
  expectedCluster: string | undefined,
  clock: Clock,
): Promise<boolean> {
  const queue = one && (await resultWithin(clock, ANSWER_LIMIT, declareQueue(one)));
  if (one === undefined || queue === undefined) {
    return expectedCluster !== undefined && clusterOf(other) === expectedCluster;
  }
  try {
    for (let asked = 0; asked < MOST_QUESTIONS; asked += 1) {
      if (asked > 0) await sleep(clock, PAUSE);
      if (await resultWithin(clock, ANSWER_LIMIT, isKnown(other, queue))) return true;
    }
    return false;
  } finally {
    onScratchChannel(one, (channel) => channel.deleteQueue(queue)).catch(() => undefined);
  }
}

// Not exclusive: a virtual host with a name beyond ASCII makes the refusal of a locked queue a text that
// RabbitMQ 4.3 fails to cut to 255 bytes, which ends the connection with INTERNAL_ERROR.
async function declareQueue(connection: RawConnection): Promise<string> {
  const options = {
    durable: true,
    expires: QUEUE_EXPIRY,
    arguments: { 'x-queue-type': 'classic' },
  };
  const declared = await onScratchChannel(connection, (channel) =>
    channel.assertQueue('', options),
  );
  return declared.queue;
}

async function isKnown(connection: RawConnection, queue: string): Promise<boolean> {
  try {
    await onScratchChannel(connection, (channel) => channel.checkQueue(queue));
    return true;
  } catch {
    return false;
  }
}
