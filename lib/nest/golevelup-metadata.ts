import 'reflect-metadata';
import {
  RABBIT_CONTEXT_TYPE_KEY,
  RABBIT_HANDLER,
  RABBIT_HEADER_TYPE,
  RABBIT_PARAM_TYPE,
  RABBIT_REQUEST_TYPE,
} from '@golevelup/nestjs-rabbitmq';

/** The context type of golevelup's handlers, which guards and filters of applications test for. */
export const CONTEXT_TYPE = RABBIT_CONTEXT_TYPE_KEY;

/** The numbers of golevelup's parameter decorators. */
export const PARAMETER = {
  payload: RABBIT_PARAM_TYPE,
  header: RABBIT_HEADER_TYPE,
  message: RABBIT_REQUEST_TYPE,
} as const;

/** The options that golevelup's own decorators put on a method; `undefined` if it has none. */
export function golevelupOptionsOf(method: object): Readonly<Record<string, unknown>> | undefined {
  const options: unknown = Reflect.getMetadata(RABBIT_HANDLER, method);
  return typeof options === 'object' && options !== null ? { ...options } : undefined;
}

/**
 * Makes golevelup's `isRabbitContext()` true for a function. To be put on the function that guards and
 * interceptors see, never on a method of a class: golevelup would register it as a handler of its own.
 */
export function markAsRabbitHandler(callback: object, options: object): void {
  Reflect.defineMetadata(RABBIT_HANDLER, { ...options, type: 'subscribe' }, callback);
}
