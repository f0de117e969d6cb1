import { SettleHeaders } from '../delivery/headers';
import type { HeaderValue } from '../model/payload-options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { TestProperties } from './test-settlement';

/**
 * The properties of a message that is published to a queue directly and that `when` of a subscription
 * selects; those that are given stay. The routing key is that of a message which comes back from elsewhere,
 * since the message itself is published with the name of the queue.
 */
export function matchingProperties(
  { when, queue }: SubscriptionMetadata,
  given: TestProperties,
): TestProperties {
  if (when === undefined) return given;
  const { type, routingKey, header = {} } = when;
  const headers: Record<string, unknown> = {};
  if (routingKey !== undefined && queue !== undefined) {
    headers[SettleHeaders.queue] = queue;
    headers[SettleHeaders.routingKey] = keyFor(firstOf(routingKey));
  }
  for (const [name, value] of Object.entries(header)) headers[name] = firstOf<HeaderValue>(value);
  return {
    ...(type !== undefined && { type: firstOf(type) }),
    ...given,
    headers: { ...headers, ...given.headers },
  };
}

function firstOf<T>(value: T | readonly T[]): T {
  return (Array.isArray(value) ? value[0] : value) as T;
}

// A key that a pattern matches: a word for `*`, none for `#`.
function keyFor(pattern: string): string {
  const words = pattern.split('.').filter((word) => word !== '#');
  return words.map((word) => (word === '*' ? 'any' : word)).join('.');
}
