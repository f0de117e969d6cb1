import { UseFilters } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { texts } from '../log/texts';
import type { BatchOptions } from '../model/consumer-options';
import type { SubscribeOptions } from '../model/options';
import type { Outcome } from '../model/outcome';
import type { PayloadOf, PayloadSchema } from '../model/schema';
import { addDecorator } from './decorated-classes';
import { ModuleCheck } from './module-check';
import type { HandlerClass } from './token';

/** golevelup's `Nack`, by its shape. */
interface NackLike {
  readonly requeue: boolean;
}

type Returned = Outcome | NackLike | undefined | void;

/**
 * What a handler can return: an outcome or nothing, also in a promise or an Observable.
 * @publicApi
 */
export type HandlerResult =
  | Returned
  | PromiseLike<Returned>
  | Observable<Outcome | NackLike | void>;

/**
 * What a method that handles batches can return: the same, for each message, or a list with an outcome or
 * nothing for each.
 * @publicApi
 */
export type BatchResult =
  | HandlerResult
  | readonly Returned[]
  | PromiseLike<Returned | readonly Returned[]>
  | Observable<Outcome | NackLike | readonly Returned[] | void>;

/** The result that a method can have. */
type ResultOf<Batch> = [Batch] extends [undefined] ? HandlerResult : BatchResult;

/** The first argument that a method gets; `unknown` if that is not known. */
type ArgumentOf<Payload, Batch> = [Batch] extends [undefined]
  ? Payload
  : unknown extends Payload
    ? never[]
    : Payload[];

/** Refuses properties that a type does not have. */
type NothingBeside<Known, Given> = Readonly<Record<Exclude<keyof Given, keyof Known>, never>>;

/** `undefined` if the option is not set, and of options that are not written out but of a general type. */
type WrittenBatch<Batch> = [Batch] extends [undefined]
  ? undefined
  : [BatchOptions] extends [Batch]
    ? keyof BatchOptions extends keyof Batch
      ? undefined
      : BatchOptions
    : BatchOptions;

/** Satisfied by a method with a valid result; for any other the compiler shows the text of this type. */
export type CheckedResult<T, Batch = undefined> = 0 extends 1 & T
  ? unknown // Nothing is known of a method of type any.
  : T extends (...args: never[]) => infer Result
    ? [Result] extends [ResultOf<Batch>]
      ? unknown
      : [Batch] extends [undefined]
        ? 'A method with @Subscribe has to return an Outcome or nothing'
        : 'A method with batch has to return nothing, an Outcome, or a list of them'
    : never;

/**
 * Satisfied by a method whose first parameter takes what the schema gives, or that has none; with `batch` it
 * takes a list. Not checked if that is `any` or `unknown`.
 */
export type CheckedPayload<T, Payload, Batch = undefined> =
  unknown extends ArgumentOf<Payload, Batch>
    ? unknown
    : T extends (...args: infer Parameters) => unknown
      ? Parameters extends readonly [infer First, ...unknown[]]
        ? [ArgumentOf<Payload, Batch>] extends [First]
          ? unknown
          : [Batch] extends [undefined]
            ? 'The first parameter of the method has to take what the schema gives'
            : 'The first parameter of a method with batch has to take a list of payloads'
        : unknown
      : never;

/**
 * A decorator of a handler, for decorators that wrap `Subscribe`. `Batch` is the type of the option `batch`.
 * @publicApi
 */
export type HandlerDecorator<Payload = unknown, Batch = undefined> = <
  T extends (...args: never[]) => unknown,
>(
  target: object,
  key: string,
  descriptor: TypedPropertyDescriptor<T> &
    CheckedResult<T, Batch> &
    CheckedPayload<T, Payload, Batch>,
) => void;

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
export function Subscribe<
  S extends PayloadSchema = PayloadSchema,
  Batch extends BatchOptions | undefined = undefined,
>(
  options: SubscribeOptions<S> & { readonly batch?: Batch & NothingBeside<BatchOptions, Batch> },
): HandlerDecorator<PayloadOf<S>, WrittenBatch<Batch>> {
  return (target, key, descriptor) => {
    addDecorator(ownerOf(target, key, descriptor), target, key, options);
    UseFilters(ModuleCheck)(target, key, descriptor);
  };
}

function ownerOf(
  target: object,
  key: string | symbol,
  descriptor: PropertyDescriptor | undefined,
): HandlerClass {
  if (isDecoratorContext(key)) throw new TypeError(texts.standardDecorator(String(key.name)));
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

// What a standard decorator receives in the place of the key.
function isDecoratorContext(
  key: unknown,
): key is { readonly kind: unknown; readonly name: unknown } {
  return typeof key === 'object' && key !== null && 'kind' in key && 'name' in key;
}
