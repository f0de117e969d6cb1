import {
  copyOfTable,
  type PublishedMessage,
  type StoredMessage,
  type Table,
} from './stored-message';

/** Why a broker moves a message out of a queue. */
export type DeathReason = 'rejected' | 'expired' | 'maxlen' | 'delivery_limit';

interface Death {
  readonly queue: string;
  readonly reason: DeathReason;
  readonly count: number;
  readonly exchange: string;
  readonly 'routing-keys': readonly string[];
  readonly 'original-expiration'?: string;
}

/**
 * Whether a broker would drop a message instead of moving it: it has been in this queue before, and
 * nobody has rejected it since. An automatic cycle never ends by itself.
 */
export function isDeathCycle(message: StoredMessage, queue: string, reason: DeathReason): boolean {
  if (reason === 'rejected') return false;
  const deaths = deathsOf(message.headers);
  const before = deaths.findIndex((death) => death.queue === queue);
  return before >= 0 && deaths.slice(0, before + 1).every((death) => death.reason !== 'rejected');
}

/** A message as its dead-letter exchange gets it: with its history, without its expiry. */
export function deadLettered(
  message: StoredMessage,
  queue: string,
  reason: DeathReason,
): PublishedMessage {
  const { expiration, ...properties } = message.properties;
  const deaths = deathsOf(message.headers);
  const same = deaths.find((death) => death.queue === queue && death.reason === reason);
  const newest: Death = {
    queue,
    reason,
    count: (same?.count ?? 0) + 1,
    exchange: message.exchange,
    'routing-keys': [message.routingKey],
    ...(expiration !== undefined && { 'original-expiration': String(expiration) }),
  };
  const headers = copyOfTable(message.headers ?? {});
  delete headers['x-delivery-count'];
  delete headers['x-acquired-count'];
  headers['x-first-death-exchange'] ??= message.exchange;
  headers['x-first-death-queue'] ??= queue;
  headers['x-first-death-reason'] ??= reason;
  headers['x-death'] = [newest, ...deaths.filter((death) => death !== same)];
  return { body: message.body, properties, headers };
}

function deathsOf(headers: Table | undefined): Death[] {
  const deaths: unknown = headers?.['x-death'];
  return Array.isArray(deaths) ? (deaths as Death[]) : [];
}
