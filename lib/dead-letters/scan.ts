import type { QueueClient } from '../amqp/queue-client';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { bytes } from '../model/size';
import type { DeadLetter, DeadLetterDetails } from './dead-letter';
import { describeLetter } from './describe';
import { matcherOf } from './filter';
import { DeadLetterGroups } from './groups';
import { historyOf } from './history';
import { Identities } from './identity';
import type { GetOptions, ListOptions } from './options';
import type { DeadLetterList } from './results';
import { limitOf, scanOf } from './selection';

const DEFAULT_LIMIT = 100;
const DEFAULT_BODY = '16KiB';

/** Lists and groups what matches in the first messages of a queue; all of them return to it. */
export async function listLetters(
  client: QueueClient,
  queue: string,
  options: ListOptions,
): Promise<DeadLetterList> {
  const matches = matcherOf(options.where);
  const limit = limitOf(options.limit, DEFAULT_LIMIT);
  const scan = scanOf(options);
  const { ready: total, consumers } = await client.counts(queue, true);
  const [groups, letters, identities] = [
    new DeadLetterGroups(),
    [] as DeadLetter[],
    new Identities(),
  ];
  let [scanned, matched, highestDeliveryCount] = [0, 0, 0];
  for await (const message of messagesOf(client, queue, Math.min(scan, total))) {
    scanned += 1;
    const letter = describeLetter(message, queue);
    highestDeliveryCount = Math.max(highestDeliveryCount, letter.deliveryCount);
    if (!matches(letter)) continue;
    matched += 1;
    groups.add(letter);
    if (letters.length >= limit) continue;
    letters.push({ id: identities.idOf(message), position: scanned, ...letter });
  }
  const counts = { total, scanned, matched, consumers, highestDeliveryCount };
  return { queue, ...counts, letters, groups: groups.list };
}

/** One dead letter with its body; `undefined` if it is not among the first messages of the queue. */
export async function findLetter(
  client: QueueClient,
  queue: string,
  id: string,
  options: GetOptions,
): Promise<DeadLetterDetails | undefined> {
  const most = bytes(options.maxBody ?? DEFAULT_BODY);
  if (most === undefined) {
    const expected = "a number of bytes or a text such as '16KiB'";
    throw new TypeError(texts.deadLetterOptionInvalid('maxBody', expected, options.maxBody));
  }
  const scan = scanOf(options);
  const { ready } = await client.counts(queue, true);
  const identities = new Identities();
  let position = 0;
  for await (const message of messagesOf(client, queue, Math.min(scan, ready))) {
    position += 1;
    if (identities.idOf(message) !== id) continue;
    const { headers = {}, ...properties } = message.properties;
    const { content } = message;
    return {
      ...{ id, position, ...describeLetter(message, queue) },
      body: Buffer.from(content.subarray(0, most)),
      isTruncated: content.length > most,
      headers: { ...headers },
      properties: definedOf(properties),
      history: historyOf({ ...headers }),
    };
  }
  return undefined;
}

// Also when the loop over it is left early: all messages return to the queue.
async function* messagesOf(
  client: QueueClient,
  queue: string,
  most: number,
): AsyncGenerator<IncomingMessage> {
  if (most === 0) return;
  const session = await client.hold(queue, { most, window: most });
  try {
    for (let held = await session.next(); held !== undefined; held = await session.next()) {
      yield held.message;
      held.keep();
    }
  } finally {
    await session.end();
  }
}

function definedOf(table: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined));
}
