import type { IncomingMessage } from '../model/delivery';
import type { WhenOptions } from '../model/payload-options';
import { isRepublished } from './attempt';
import { headerOf, SettleHeaders, textHeaderOf } from './headers';
import { matchesTopic } from './topic-pattern';

/** Whether a message that arrives from a queue meets the conditions of a method. */
export type Match = (message: IncomingMessage, queue: string) => boolean;

/** The match of `when`: every condition that is given has to be met. Built once at startup. */
export function matchOf({ routingKey, type, header = {} }: WhenOptions): Match {
  const conditions: Match[] = [];
  if (type !== undefined) {
    const types = listOf(type);
    conditions.push(({ properties }) => types.includes(properties.type));
  }
  if (routingKey !== undefined) {
    const patterns = listOf(routingKey);
    conditions.push((message, queue) => {
      const key = firstRoutingKey(message, queue);
      return patterns.some((pattern) => matchesTopic(pattern, key));
    });
  }
  for (const [name, value] of Object.entries(header)) {
    const values: readonly unknown[] = listOf(value);
    conditions.push(({ properties }) => values.includes(headerOf(properties.headers, name)));
  }
  return (message, queue) => conditions.every((isMet) => isMet(message, queue));
}

/** The routing key with which a message was first published. */
export function firstRoutingKey(message: IncomingMessage, queue: string): string {
  const { fields, properties } = message;
  if (!isRepublished(message, queue)) return fields.routingKey;
  return textHeaderOf(properties.headers, SettleHeaders.routingKey) ?? fields.routingKey;
}

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

/** `when` as log lines show it: `type "OrderPaid", header "region"`. */
export function whenText({ routingKey, type, header = {} }: WhenOptions): string {
  const quoted = (values: string | readonly string[]): string =>
    listOf(values)
      .map((one) => `"${one}"`)
      .join(' or ');
  return [
    ...(routingKey === undefined ? [] : [`routing key ${quoted(routingKey)}`]),
    ...(type === undefined ? [] : [`type ${quoted(type)}`]),
    ...Object.entries(header).map(
      ([name, value]) => `header ${name} ${quoted(listOf(value).map(String))}`,
    ),
  ].join(', ');
}
