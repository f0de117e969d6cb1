import { Inject } from '@nestjs/common';
import { texts } from '../log/texts';

/** A class with handlers. */
export type HandlerClass = abstract new (...args: never[]) => object;

// Classes that share a name get a number, in the order in which their tokens are first made.
const numbers = new WeakMap<HandlerClass, number>();
const namesakes = new Map<string, number>();

function classLabel(type: HandlerClass): string {
  let number = numbers.get(type);
  if (number === undefined) {
    number = (namesakes.get(type.name) ?? 0) + 1;
    numbers.set(type, number);
    namesakes.set(type.name, number);
  }
  return number === 1 ? type.name : `${type.name}#${number}`;
}

/**
 * The injection token of a subscription's metadata. In a test,
 * `overrideProvider(token).useValue({ retry: { attempts: 1 } })` overrides these options.
 * @param name the option `name` or the queue; needed if a method carries more than one.
 * @publicApi
 */
export function getSubscriptionToken<T extends HandlerClass>(
  type: T,
  method: MethodName<InstanceType<T>>,
  name?: string,
): string {
  const base = `Subscription:${classLabel(type)}.${method}`;
  return name === undefined ? base : `${base}:${name}`;
}

/** The names of an object's methods. */
export type MethodName<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never;
}[keyof T] &
  string;

/** The token of the metadata with a test's override, if there is one. */
export function getEffectiveSubscriptionToken(token: string): string {
  return `Effective${token}`;
}

/**
 * Injects the metadata of a subscription, with a test's override if there is one.
 * @param name the option `name` or the queue; needed if a method carries more than one.
 * @publicApi
 */
export function InjectSubscription<T extends HandlerClass>(
  type: T,
  method: MethodName<InstanceType<T>>,
  name?: string,
): ParameterDecorator & PropertyDecorator {
  if (type === undefined) throw new TypeError(texts.injectUndefined(method));
  return Inject(getEffectiveSubscriptionToken(getSubscriptionToken(type, method, name)));
}
