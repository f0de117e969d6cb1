import { Catch, type ExceptionFilter, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import { classNames } from './decorated-classes';

/** The token of the module's options: its presence tells that an application imports `SettleModule`. */
export const SETTLE_OPTIONS = 'SETTLE_MODULE_OPTIONS';

// Registered, so that the check of another copy of this package is recognised.
const CHECK = Symbol.for('nestjs-settle.module-check');

const warned = new WeakSet<ModulesContainer>();

class Nothing {}

/**
 * Warns an application whose providers have `@Subscribe` methods and that does not import `SettleModule`:
 * nothing else of this library runs there. A filter that catches nothing, because Nest makes an instance
 * of a filter, and calls its hooks, in each application that has the decorated class.
 */
@Catch(Nothing)
export class ModuleCheck implements ExceptionFilter, OnApplicationBootstrap {
  static readonly [CHECK] = true;

  constructor(private readonly container: ModulesContainer) {}

  catch(): void {}

  onApplicationBootstrap(): void {
    const modules = [...this.container.values()];
    const isImported = modules.some(({ providers }) => providers.has(SETTLE_OPTIONS));
    if (isImported || warned.has(this.container)) return;
    warned.add(this.container);
    const providers = modules.flatMap((one) => [
      ...one.providers.values(),
      ...one.controllers.values(),
    ]);
    writeLine(Logger, 'missing-module', texts.missingModule(classNames(providers, true)));
  }
}

/** Whether a filter is the check of this or another copy of the package, which handles no error. */
export function isModuleCheck(filter: unknown): boolean {
  return typeof filter === 'function' && Object.hasOwn(filter, CHECK);
}
