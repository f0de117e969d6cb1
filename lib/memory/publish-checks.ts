import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { fieldTypeOf } from './field-values';
import { ServerError } from './server-error';
import type { PublishedMessage } from './stored-message';

/** The largest message that a server takes by default, in bytes. */
const LARGEST = 16_777_216;
const LARGEST_BEFORE_4_0 = 134_217_728;
const LONGEST_EXPIRATION = 315_360_000_000;

/**
 * Checks a message as a server does before it routes it.
 * @param user who publishes it.
 * @throws ServerError 406 with what the server replies.
 */
export function requirePublishable(
  { body, properties, headers = {} }: PublishedMessage,
  version: ServerVersion,
  user: string,
): void {
  const largest = isAtLeast(version, [4, 0]) ? LARGEST : LARGEST_BEFORE_4_0;
  if (body.length > largest) {
    refuse(`message size ${body.length} is larger than configured max size ${largest}`);
  }
  const { userId, expiration, deliveryMode } = properties;
  if (userId !== undefined && userId !== user) {
    refuse(`user_id property set to '${userId}' but authenticated user was '${user}'`);
  }
  if (expiration !== undefined) requireExpiration(String(expiration));
  for (const name of ['CC', 'BCC']) {
    const value = headers[name];
    if (value === undefined || Array.isArray(value)) continue;
    refuse(`invalid message: {unacceptable_type_in_header,"${name}",${fieldTypeOf(value)}}`);
  }
  const isKnownMode = deliveryMode === undefined || deliveryMode === 1 || deliveryMode === 2;
  if (!isKnownMode && !isAtLeast(version, [4, 0])) {
    refuse(`invalid message: {delivery_mode_unknown,${deliveryMode}}`);
  }
}

function requireExpiration(expiration: string): void {
  const [, number, rest] = /^([+-]?\d+)(.*)$/s.exec(expiration) ?? [];
  const reason = number === undefined ? 'no_integer' : reasonOf(Number(number), rest ?? '');
  if (reason !== undefined) refuse(`invalid expiration '${expiration}': ${reason}`);
}

function reasonOf(ms: number, rest: string): string | undefined {
  if (rest !== '') return `{leftover_string,"${rest}"}`;
  if (ms < 0) return `{value_negative,${ms}}`;
  return ms > LONGEST_EXPIRATION ? `{value_too_large,${ms}}` : undefined;
}

function refuse(text: string): never {
  throw new ServerError(406, text, 'BasicPublish');
}
