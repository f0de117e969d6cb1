import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import {
  copyOfTable,
  type Death,
  type DeathReason,
  type PublishedMessage,
  type StoredMessage,
} from './stored-message';

/** Where, when and why a message is dead-lettered. */
export interface DeathPlace {
  readonly queue: string;
  readonly reason: DeathReason;
  /** ms since the epoch. */
  readonly now: number;
  readonly version: ServerVersion;
  /** The routing key of the queue's dead letters; `undefined`: they keep their own. */
  readonly routingKey: string | undefined;
}

/**
 * Whether a broker drops a dead letter rather than route it to this queue: it has been there before and
 * was not rejected since. Such a cycle would never end.
 */
export function isDeathCycle(deaths: readonly Death[], queue: string): boolean {
  const before = deaths.findIndex((death) => death.queue === queue);
  return before >= 0 && deaths.slice(0, before + 1).every((death) => death.reason !== 'rejected');
}

/** The dead-letter history of a message. From 4.0 on, what a client puts into `x-death` is ignored. */
export function deathsOf(message: PublishedMessage, version: ServerVersion): readonly Death[] {
  if (message.deaths !== undefined) return message.deaths;
  const given: unknown = message.headers?.['x-death'];
  if (isAtLeast(version, [4, 0]) || !Array.isArray(given)) return [];
  return given.filter((death): death is Death => typeof death === 'object' && death !== null);
}

/** A message as its dead-letter exchange receives it: with its history, without its expiration. */
export function deadLettered(message: StoredMessage, place: DeathPlace): PublishedMessage {
  const { expiration: _expiration, ...properties } = message.properties;
  const deaths = withDeath(message, place);
  const headers = copyOfTable(message.headers ?? {});
  // A new routing key replaces all others.
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

// The newest stands first. An entry that repeats is counted; its other fields stay.
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
