import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import {
  copyOfTable,
  type Death,
  type DeathReason,
  type PublishedMessage,
  type StoredMessage,
} from './stored-message';

/** Where and when a message dies. */
export interface DeathPlace {
  readonly queue: string;
  readonly reason: DeathReason;
  /** ms since the epoch. */
  readonly now: number;
  readonly version: ServerVersion;
  /** The routing key that the queue gives its dead letters; `undefined`: they keep theirs. */
  readonly routingKey: string | undefined;
}

/**
 * Whether a broker drops a dead letter instead of handing it to this queue: it has been there before, and
 * nobody has rejected it since. An automatic cycle would never end by itself.
 */
export function isDeathCycle(deaths: readonly Death[], queue: string): boolean {
  const before = deaths.findIndex((death) => death.queue === queue);
  return before >= 0 && deaths.slice(0, before + 1).every((death) => death.reason !== 'rejected');
}

/** The history of a message. From 4.0 on a client that puts one on its message is not believed. */
export function deathsOf(message: PublishedMessage, version: ServerVersion): readonly Death[] {
  if (message.deaths !== undefined) return message.deaths;
  const told: unknown = message.headers?.['x-death'];
  if (isAtLeast(version, [4, 0]) || !Array.isArray(told)) return [];
  return told.filter((death): death is Death => typeof death === 'object' && death !== null);
}

/** A message as its dead-letter exchange gets it: with its history, without its expiry. */
export function deadLettered(message: StoredMessage, place: DeathPlace): PublishedMessage {
  const { expiration: _expiration, ...properties } = message.properties;
  const deaths = withDeath(message, place);
  const headers = copyOfTable(message.headers ?? {});
  // A new routing key takes the place of all others.
  if (place.routingKey !== undefined) delete headers['CC'];
  headers['x-death'] = deaths;
  if (isFirstDeath(message, place)) {
    headers['x-first-death-exchange'] = message.exchange;
    headers['x-first-death-queue'] = place.queue;
    headers['x-first-death-reason'] = place.reason;
  }
  if (isAtLeast(place.version, [3, 13])) {
    headers['x-last-death-exchange'] = message.exchange;
    headers['x-last-death-queue'] = place.queue;
    headers['x-last-death-reason'] = place.reason;
  }
  return { body: message.body, properties, headers, deaths };
}

function isFirstDeath(message: StoredMessage, { version }: DeathPlace): boolean {
  if (isAtLeast(version, [4, 0])) return message.deaths === undefined;
  return message.headers?.['x-first-death-queue'] === undefined;
}

// The newest stands first; one that repeats keeps what it was first, and is counted.
function withDeath(message: StoredMessage, { queue, reason, now, version }: DeathPlace): Death[] {
  const deaths = deathsOf(message, version);
  const same = deaths.find((death) => death.queue === queue && death.reason === reason);
  const { expiration } = message.properties;
  const newest: Death = same
    ? { ...same, count: same.count + 1 }
    : {
        count: 1,
        reason,
        queue,
        time: { '!': 'timestamp', value: Math.floor(now / 1000) },
        exchange: message.exchange,
        'routing-keys': [message.routingKey, ...carbonKeys(message)],
        ...(expiration !== undefined && { 'original-expiration': String(expiration) }),
      };
  return [newest, ...deaths.filter((death) => death !== same)];
}

function carbonKeys({ headers }: PublishedMessage): string[] {
  return [headers?.['CC']].flat().filter((key) => typeof key === 'string');
}
