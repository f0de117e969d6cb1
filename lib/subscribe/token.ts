import { Inject } from '@nestjs/common';
import { texts } from '../log/texts';

/** A class, as tokens name it. */
export type HandlerClass = abstract new (...args: never[]) => object;

// Two classes of one name are told apart by a number in the order in which they are first named.
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
 * The token under which the container holds the metadata of a subscription. In a test,
 * `overrideProvider(token).useValue({ retry: { attempts: 1 } })` lays these options over it.
 * @param name the option `name` or the queue; needed where a method carries more than one.
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

/** The token of what a test has laid over the metadata, and of the metadata itself where it has not. */
export function getEffectiveSubscriptionToken(token: string): string {
  return `Effective${token}`;
}

/**
 * Injects the metadata of a subscription, with what a test has laid over it.
 * @param name the option `name` or the queue; needed where a method carries more than one.
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
