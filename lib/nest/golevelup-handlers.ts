import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { golevelupOptionsOf } from './golevelup-metadata';

/** A method that golevelup's own decorators register as a consumer. */
export interface GolevelupHandler {
  /** The class and method. */
  readonly label: string;
  readonly connection: string | undefined;
  readonly queue: string | undefined;
  /** The entry of the connection's `handlers` that has its options. */
  readonly name: string | undefined;
}

/** The handlers of `@RabbitSubscribe` and `@RabbitRPC` in the application. */
export function golevelupHandlersOf(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): readonly GolevelupHandler[] {
  const found = new Map<string, GolevelupHandler>();
  for (const { instance } of [...discovery.getProviders(), ...discovery.getControllers()]) {
    if (typeof instance !== 'object' || instance === null) continue;
    const prototype: object | null = Object.getPrototypeOf(instance);
    if (prototype === null) continue;
    for (const method of scanner.getAllMethodNames(prototype)) {
      const handler = handlerOf(prototype, method);
      if (handler !== undefined) found.set(handler.label, handler);
    }
  }
  return [...found.values()];
}

function handlerOf(prototype: object, method: string): GolevelupHandler | undefined {
  const callback: unknown = Reflect.get(prototype, method);
  if (typeof callback !== 'function') return undefined;
  const options = golevelupOptionsOf(callback);
  if (options === undefined) return undefined;
  return {
    label: `${prototype.constructor.name}.${method}`,
    connection: textOf(options.connection),
    queue: textOf(options.queue),
    name: textOf(options.name),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
