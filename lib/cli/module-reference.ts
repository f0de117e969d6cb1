import 'reflect-metadata';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DynamicModule, Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants';
import { texts } from '../log/texts';

/** The root module of an application. */
export type RootModule = Type | DynamicModule;

/**
 * The module that a reference names: `./dist/app.module.js#AppModule`. Without a name it is the default
 * export, or the only module that the file exports.
 * @throws Error if the file has no such module.
 */
export async function loadModule(reference: string): Promise<RootModule> {
  const [path = '', name] = reference.split('#');
  const namespace: unknown = await import(pathToFileURL(resolve(path)).href);
  const exported = exportsOf(namespace);
  const found = name === undefined ? modulesOf(exported) : [exported.get(name)];
  const [module] = found;
  if (found.length === 1 && isModule(module)) return module;
  throw new Error(texts.noSuchModule(path, name, [...exported.keys()]));
}

function exportsOf(namespace: unknown): ReadonlyMap<string, unknown> {
  const all = new Map<string, unknown>(Object.entries(Object(namespace)));
  // A CommonJS file has its exports under `default`, too.
  const inner = all.get('default');
  if (typeof inner === 'object' && inner !== null && !isModule(inner)) {
    all.delete('default');
    for (const [name, value] of Object.entries(inner)) if (!all.has(name)) all.set(name, value);
  }
  all.delete('module.exports');
  all.delete('__esModule');
  return all;
}

function modulesOf(exported: ReadonlyMap<string, unknown>): readonly unknown[] {
  const byDefault = exported.get('default');
  if (isModule(byDefault)) return [byDefault];
  return [...new Set(exported.values())].filter(isModule);
}

function isModule(value: unknown): value is RootModule {
  if (typeof value === 'function') {
    return Object.values(MODULE_METADATA).some((key) => Reflect.hasMetadata(key, value));
  }
  return typeof value === 'object' && value !== null && 'module' in value;
}
