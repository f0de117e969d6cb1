import type { MessageCounts } from '../amqp/port';
import { replyCodeOf } from '../amqp/refusal';
import { onScratchChannel } from './scratch-channel';
import type { RawConnection } from './types';

/**
 * Counts what is in queues, with passive declarations one after the other on one channel; a refusal closes it,
 * and the others are counted on the next one. AMQP reports ready messages and consumers only.
 */
export async function countQueues(
  connection: RawConnection,
  queues: readonly string[],
): Promise<ReadonlyMap<string, MessageCounts>> {
  const counts = new Map<string, MessageCounts>();
  const left = [...queues];
  while (left.length > 0) {
    await onScratchChannel(connection, async (channel) => {
      for (let name = left.shift(); name !== undefined; name = left.shift()) {
        try {
          const { messageCount, consumerCount } = await channel.checkQueue(name);
          const counted = { ready: messageCount, unacknowledged: undefined };
          counts.set(name, { ...counted, consumers: consumerCount });
        } catch (error) {
          if (replyCodeOf(error) === undefined) throw error;
          return;
        }
      }
    });
  }
  return counts;
}
