import { isDeepStrictEqual } from 'node:util';
import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import type { Binding, SubscriptionMetadata } from '../model/subscription-metadata';
import { mergeOptions } from './merge-options';
import { isQueueName } from './value-checks';

/** The bindings of a subscription, each once: `exchange` with each routing key, then `bindings`. */
export function bindingsOf(options: SubscribeOptions): Binding[] {
  const { exchange, routingKey } = options;
  const all: Binding[] = [];
  if (exchange) {
    const keys = Array.isArray(routingKey) && routingKey.length > 0 ? routingKey : [routingKey];
    for (const key of keys) all.push({ exchange, routingKey: key as string | undefined });
  }
  const bindings: readonly unknown[] = Array.isArray(options.bindings) ? options.bindings : [];
  for (const binding of bindings) {
    const { exchange: from, routingKey: key } = Object(binding) as Binding;
    all.push({ exchange: from, routingKey: key });
  }
  return all.filter(
    (one, index) => index === all.findIndex((each) => isDeepStrictEqual(each, one)),
  );
}

/** Faults of bindings: keys without an exchange, invalid names, a subscription without queue and exchange. */
export function bindingFaults({
  handler,
  bindings,
  queue,
  options,
}: SubscriptionMetadata): string[] {
  const faults = writtenFaults(handler, options);
  for (const { exchange, routingKey } of bindings) {
    if (!isQueueName(exchange)) {
      faults.push(texts.option(handler, 'exchange', 'a name of 1 to 255 bytes', exchange));
    }
    if (routingKey !== undefined && !isRoutingKey(routingKey)) {
      faults.push(texts.option(handler, 'routingKey', 'a text of at most 255 bytes', routingKey));
    }
  }
  const isNamedElsewhere = options.name !== undefined;
  if (queue === undefined && !('queue' in options) && bindings.length === 0 && !isNamedElsewhere) {
    faults.push(texts.option(handler, 'queue', 'a queue, an exchange, or both', undefined));
  }
  return faults;
}

// Faults that the normalised list of bindings no longer shows.
function writtenFaults(
  handler: string,
  { exchange, routingKey, bindings }: SubscribeOptions,
): string[] {
  const faults: string[] = [];
  if (routingKey !== undefined && !exchange) {
    faults.push(texts.option(handler, 'exchange', 'an exchange beside routingKey', exchange));
  }
  if (bindings !== undefined && !Array.isArray(bindings)) {
    faults.push(texts.option(handler, 'bindings', 'a list of { exchange, routingKey }', bindings));
  }
  return faults;
}

function isRoutingKey(value: unknown): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) <= 255;
}

/**
 * Joins several `@Subscribe` of one method on one queue into one subscription with the options and the
 * bindings of all. An option that two of them set to different values is a fault.
 */
export function joinOptions(
  handler: string,
  list: readonly SubscribeOptions[],
): { readonly groups: readonly SubscribeOptions[]; readonly faults: readonly string[] } {
  const groups: SubscribeOptions[] = [];
  const faults: string[] = [];
  for (const options of list) {
    const index = groups.findIndex((group) => isSameQueue(group, options));
    const first = groups[index];
    if (first === undefined) {
      groups.push(options);
      continue;
    }
    const [one, other] = [restOf(first), restOf(options)];
    for (const [option, value] of Object.entries(other)) {
      const present = one[option as keyof SubscribeOptions];
      if (present === undefined || isDeepStrictEqual(value, present)) continue;
      faults.push(texts.differingOptions(handler, option, first.queue ?? ''));
    }
    faults.push(...writtenFaults(handler, first), ...writtenFaults(handler, options));
    const bindings = [...asBindings(first), ...asBindings(options)];
    groups[index] = mergeOptions(other, one, { bindings });
  }
  return { groups, faults };
}

function isSameQueue(one: SubscribeOptions, other: SubscribeOptions): boolean {
  if (one.queue === undefined || one.queue !== other.queue) return false;
  return one.connection === other.connection && one.name === other.name;
}

function restOf(options: SubscribeOptions): Partial<SubscribeOptions> {
  const { exchange: _exchange, routingKey: _routingKey, bindings: _bindings, ...rest } = options;
  return rest as Partial<SubscribeOptions>;
}

function asBindings(options: SubscribeOptions): NonNullable<SubscribeOptions['bindings']> {
  // golevelup's type requires a routing key; an absent one stays absent.
  return bindingsOf(options) as NonNullable<SubscribeOptions['bindings']>;
}
