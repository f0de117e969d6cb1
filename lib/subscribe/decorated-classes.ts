import 'reflect-metadata';
import type { SubscribeOptions } from '../model/options';
import type { HandlerClass } from './token';

// Registered, so that two copies of this package see each other's decorators.
const METADATA = Symbol.for('nestjs-settle.subscriptions');

// Read when the container scans the module: the classes of tokens have to be known before any instance
// exists.
const decorated = new Map<HandlerClass, Map<string, readonly SubscribeOptions[]>>();

/** Records one decorator of a method; the list of a method reads as its source does. */
export function addDecorator(
  type: HandlerClass,
  prototype: object,
  method: string,
  options: SubscribeOptions,
): void {
  const methods = decorated.get(type) ?? new Map<string, readonly SubscribeOptions[]>();
  // Decorators run from the last to the first.
  const list = [options, ...(methods.get(method) ?? [])];
  decorated.set(type, methods.set(method, list));
  Reflect.defineMetadata(METADATA, list, prototype, method);
}

/** The classes with decorated methods that this process has loaded, with their options by method. */
export function decoratedClasses(): ReadonlyMap<
  HandlerClass,
  ReadonlyMap<string, readonly SubscribeOptions[]>
> {
  return decorated;
}

/**
 * The options with which a method is decorated, in the order of the source. They are kept on the class
 * and the key, so a wrapping decorator that replaces the function does not lose them, and an overriding
 * method of a subclass inherits them unless it is decorated itself.
 */
export function subscribeOptionsOf(
  prototype: object,
  key: string,
): readonly SubscribeOptions[] | undefined {
  return Reflect.getMetadata(METADATA, prototype, key);
}

/** A provider or controller of Nest's container, as far as it tells its class. */
export interface ContainedClass {
  readonly token: unknown;
  readonly metatype: unknown;
  readonly instance: unknown;
}

/** The names of the decorated classes that are among providers, by themselves or by a subclass, or are not. */
export function classNames(providers: readonly ContainedClass[], areProvided: boolean): string[] {
  return [...decorated.keys()]
    .filter((type) => providers.some((one) => isOf(type, one)) === areProvided)
    .map((type) => type.name);
}

function isOf(type: HandlerClass, { token, metatype, instance }: ContainedClass): boolean {
  if (token === type || metatype === type) return true;
  try {
    const isSubclass = typeof metatype === 'function' && metatype.prototype instanceof type;
    return isSubclass || instance instanceof type;
  } catch {
    return false; // A proxy whose traps throw.
  }
}
