import 'reflect-metadata';
import type { Observable } from 'rxjs';
import { texts } from '../log/texts';
import type { SubscribeOptions } from '../model/options';
import type { Outcome } from '../model/outcome';
import type { HandlerClass } from './token';

// Registered, so that two copies of this package see each other's decorators.
const METADATA = Symbol.for('nestjs-settle.subscriptions');

/** golevelup's `Nack`, by its shape. */
interface NackLike {
  readonly requeue: boolean;
}

type Returned = Outcome | NackLike | undefined | void;

/** What a handler may return. */
export type HandlerResult =
  | Returned
  | PromiseLike<Returned>
  | Observable<Outcome | NackLike | void>;

export type HandlerDecorator = <T extends (...args: never[]) => HandlerResult>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

// Read when the container scans the module: the classes of tokens have to be known before any instance
// exists.
const decorated = new Map<HandlerClass, Map<string, readonly SubscribeOptions[]>>();

/**
 * Makes a method of a provider the handler of a queue. What it returns or throws becomes one acknowledgement
 * decision, carried out exactly once. Several decorators on one method form one subscription with all
 * bindings if they name the same queue, otherwise one each.
 * @example
 * @Subscribe({ exchange: 'orders', routingKey: 'order.paid', queue: 'billing', deadLetter: 'billing.dead' })
 * async charge(order: Order): Promise<void> {}
 * @throws TypeError on a static or symbol member, a property, an accessor, or a generator.
 * @publicApi
 */
export function Subscribe(options: SubscribeOptions): HandlerDecorator {
  return (target, key, descriptor) => {
    const type = ownerOf(target, key, descriptor);
    const methods = decorated.get(type) ?? new Map<string, readonly SubscribeOptions[]>();
    // Decorators run from the last to the first; the list has the order of the source.
    const list = [options, ...(methods.get(key) ?? [])];
    decorated.set(type, methods.set(key, list));
    Reflect.defineMetadata(METADATA, list, target, key);
  };
}

function ownerOf(
  target: object,
  key: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): HandlerClass {
  const isStatic = typeof target === 'function';
  const type = (isStatic ? target : target.constructor) as HandlerClass;
  const where = `${type.name}.${String(key)}`;
  const method = descriptor?.value;
  if (isStatic) throw new TypeError(texts.notAMethod(where, 'a static method'));
  if (typeof key === 'symbol') throw new TypeError(texts.notAMethod(where, 'a symbol'));
  if (descriptor !== undefined && (descriptor.get ?? descriptor.set) !== undefined) {
    throw new TypeError(texts.notAMethod(where, 'an accessor'));
  }
  if (typeof method !== 'function') {
    throw new TypeError(texts.notAMethod(where, 'a property that holds no method'));
  }
  if (/^(Async)?GeneratorFunction$/.test(method.constructor.name)) {
    throw new TypeError(texts.notAMethod(where, 'a generator'));
  }
  return type;
}

/** The classes with decorated methods that this process has loaded, with their options by method. */
export function decoratedClasses(): ReadonlyMap<
  HandlerClass,
  ReadonlyMap<string, readonly SubscribeOptions[]>
> {
  return decorated;
}

/**
 * The options with which a method is decorated, in the order of the source. They are stored on the class and the
 * key: a wrapping decorator that replaces the function does not lose them, and an overriding method of a
 * subclass inherits them unless it is decorated itself.
 */
export function subscribeOptionsOf(
  prototype: object,
  key: string,
): readonly SubscribeOptions[] | undefined {
  return Reflect.getMetadata(METADATA, prototype, key);
}
