import type { Provider } from '@nestjs/common';
import type { ModuleRef } from '@nestjs/core';
import type { SubscribeDefaults, SubscribeOptions } from '../model/options';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { joinOptions } from '../subscribe/bindings';
import { decoratedClasses } from '../subscribe/decorated-classes';
import { mergeOptions } from '../subscribe/merge-options';
import { normalize } from '../subscribe/normalize';
import type { ResolvedSettleOptions } from '../subscribe/resolve-settle-options';
import {
  getEffectiveSubscriptionToken,
  getSubscriptionToken,
  type HandlerClass,
} from '../subscribe/token';
import type { HandlerMethod } from './explorer';
import { RESOLVED_OPTIONS } from './tokens';

/**
 * The providers of all subscriptions whose classes this process has loaded: the metadata under its token,
 * and the metadata with a test's override under another one. Called when the container scans the module.
 */
export function subscriptionProviders(): readonly Provider[] {
  const providers: Provider[] = [];
  for (const [type, methods] of decoratedClasses()) {
    for (const [method, list] of methods) {
      const handler = `${type.name}.${method}`;
      const { groups } = joinOptions(handler, list);
      for (const options of groups) {
        const tokens = tokensOf(type, method, options, groups.length);
        providers.push(...providersOf(tokens, handler, options));
      }
    }
  }
  return providers;
}

// A method with a single subscription is found without its name, too.
function tokensOf(
  type: HandlerClass,
  method: string,
  options: SubscribeOptions,
  count: number,
): string[] {
  const name = options.name ?? options.queue;
  const tokens = count === 1 ? [getSubscriptionToken(type, method as never)] : [];
  return name ? [...tokens, getSubscriptionToken(type, method as never, name)] : tokens;
}

// An override of any of a subscription's tokens applies to all of them.
function providersOf(
  tokens: readonly string[],
  handler: string,
  options: SubscribeOptions,
): Provider[] {
  const [first, ...others] = tokens;
  if (first === undefined) return [];
  const effective = getEffectiveSubscriptionToken(first);
  return [
    ...tokens.map((token) => ({
      provide: token,
      useFactory: ({ defaults }: ResolvedSettleOptions) => normalize(handler, options, defaults),
      inject: [RESOLVED_OPTIONS],
    })),
    {
      provide: effective,
      useFactory: ({ defaults }: ResolvedSettleOptions, ...values: unknown[]) =>
        overridden(values.find(isOverride) ?? values[0], handler, options, defaults),
      inject: [RESOLVED_OPTIONS, ...tokens],
    },
    ...others.map((token) => ({
      provide: getEffectiveSubscriptionToken(token),
      useExisting: effective,
    })),
  ];
}

/**
 * The subscription of a handler, with a test's override of its token or of a base class's.
 * @param named the options that the connection has under the handler's name.
 */
export function effectiveSubscription(
  modules: ModuleRef,
  { type, method, label }: HandlerMethod,
  options: SubscribeOptions,
  defaults: SubscribeDefaults,
  named?: SubscribeOptions,
): SubscriptionMetadata {
  const all = mergeOptions(options, named);
  const own = normalize(label, all, defaults);
  for (let host: unknown = type; typeof host === 'function'; host = Object.getPrototypeOf(host)) {
    const hostType = host as HandlerClass;
    const list = decoratedClasses().get(hostType)?.get(method);
    if (list === undefined) continue;
    const { groups } = joinOptions(label, list);
    const tokens = tokensOf(hostType, method, options, groups.length);
    const override = tokens.map((token) => lookUp(modules, token)).find(isOverride);
    if (override !== undefined) return overridden(override, label, all, defaults);
    const [token] = tokens;
    const found = token && lookUp(modules, getEffectiveSubscriptionToken(token));
    return named === undefined && hostType === type && isSubscription(found) ? found : own;
  }
  return own;
}

function lookUp(modules: ModuleRef, token: string): unknown {
  try {
    return modules.get(token, { strict: false });
  } catch {
    return undefined; // The class was loaded after the module was scanned: there is no such provider.
  }
}

function overridden(
  value: unknown,
  handler: string,
  options: SubscribeOptions,
  defaults: SubscribeDefaults,
): SubscriptionMetadata {
  if (isSubscription(value)) return value;
  const partial = (value ?? {}) as Partial<SubscribeOptions>;
  const retry = partial.retry && { ...options.retry, ...partial.retry };
  return normalize(handler, mergeOptions(options, partial, retry && { retry }), defaults);
}

function isOverride(value: unknown): boolean {
  return value !== undefined && !isSubscription(value);
}

function isSubscription(value: unknown): value is SubscriptionMetadata {
  return typeof value === 'object' && value !== null && 'handler' in value && 'options' in value;
}
