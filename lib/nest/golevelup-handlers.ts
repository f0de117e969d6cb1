import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import { golevelupOptionsOf } from './golevelup-metadata';

/** A method that golevelup's own decorators register as a consumer. */
export interface GolevelupHandler {
  /** The class and method. */
  readonly label: string;
  readonly connection: string | undefined;
  readonly queue: string | undefined;
  /** The entry of the connection's `handlers` that overrides its options. */
  readonly name: string | undefined;
  readonly isController: boolean;
}

/** The handlers of `@RabbitSubscribe` and `@RabbitRPC` in the application. */
export function golevelupHandlersOf(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): readonly GolevelupHandler[] {
  const found = new Map<string, GolevelupHandler>();
  const explore = ({ instance }: InstanceWrapper, isController: boolean): void => {
    if (typeof instance !== 'object' || instance === null) return;
    const prototype: object | null = Object.getPrototypeOf(instance);
    if (prototype === null) return;
    for (const method of scanner.getAllMethodNames(prototype)) {
      const handler = handlerOf(prototype, method, isController);
      if (handler !== undefined) found.set(JSON.stringify(handler), handler);
    }
  };
  for (const wrapper of discovery.getProviders()) explore(wrapper, false);
  for (const wrapper of discovery.getControllers()) explore(wrapper, true);
  return [...found.values()];
}

function handlerOf(
  prototype: object,
  method: string,
  isController: boolean,
): GolevelupHandler | undefined {
  const callback: unknown = Reflect.get(prototype, method);
  if (typeof callback !== 'function') return undefined;
  const options = golevelupOptionsOf(callback);
  if (options === undefined) return undefined;
  return {
    label: `${prototype.constructor.name}.${method}`,
    connection: textOf(options.connection),
    queue: textOf(options.queue),
    name: textOf(options.name),
    isController,
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
