import { isDeepStrictEqual } from 'node:util';
import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import type { Binding, SubscriptionMetadata } from '../model/subscription-metadata';
import { isQueueName } from './checks';

/** The bindings that options mean, each once: `exchange` with each routing key, then `bindings`. */
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

/** Faults of bindings: keys without an exchange, names that can't be, a queue that nothing fills. */
export function bindingFaults({
  handler,
  bindings,
  queue,
  options,
}: SubscriptionMetadata): string[] {
  const found = writtenFaults(handler, options);
  for (const { exchange, routingKey } of bindings) {
    if (!isQueueName(exchange)) {
      found.push(texts.option(handler, 'exchange', 'a name of 1 to 255 bytes', exchange));
    }
    if (routingKey !== undefined && !isRoutingKey(routingKey)) {
      found.push(texts.option(handler, 'routingKey', 'a text of at most 255 bytes', routingKey));
    }
  }
  const isNamedElsewhere = options.name !== undefined;
  if (queue === undefined && !('queue' in options) && bindings.length === 0 && !isNamedElsewhere) {
    found.push(texts.option(handler, 'queue', 'a queue, an exchange, or both', undefined));
  }
  return found;
}

// Faults that the list of bindings no longer shows.
function writtenFaults(
  handler: string,
  { exchange, routingKey, bindings }: SubscribeOptions,
): string[] {
  const found: string[] = [];
  if (routingKey !== undefined && !exchange) {
    found.push(texts.option(handler, 'exchange', 'an exchange beside routingKey', exchange));
  }
  if (bindings !== undefined && !Array.isArray(bindings)) {
    found.push(texts.option(handler, 'bindings', 'a list of { exchange, routingKey }', bindings));
  }
  return found;
}

function isRoutingKey(value: unknown): boolean {
  return typeof value === 'string' && Buffer.byteLength(value) <= 255;
}

/**
 * Several `@Subscribe` of one method on one queue are one subscription: the options and the bindings of
 * all. An option that two of them say differently is a fault.
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
      const said = one[option as keyof SubscribeOptions];
      if (said === undefined || isDeepStrictEqual(value, said)) continue;
      faults.push(texts.differingOptions(handler, option, first.queue ?? ''));
    }
    faults.push(...writtenFaults(handler, first), ...writtenFaults(handler, options));
    const bindings = [...asBindings(first), ...asBindings(options)];
    groups[index] = { ...other, ...one, bindings };
  }
  return { groups, faults };
}

function isSameQueue(one: SubscribeOptions, other: SubscribeOptions): boolean {
  if (one.queue === undefined || one.queue !== other.queue) return false;
  return one.connection === other.connection && one.name === other.name;
}

function restOf(options: SubscribeOptions): Partial<SubscribeOptions> {
  const { exchange: _exchange, routingKey: _routingKey, bindings: _bindings, ...rest } = options;
  return rest;
}

function asBindings(options: SubscribeOptions): NonNullable<SubscribeOptions['bindings']> {
  // golevelup's type wants a routing key; an absent one stays absent.
  return bindingsOf(options) as NonNullable<SubscribeOptions['bindings']>;
}
