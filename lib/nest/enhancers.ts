import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
} from '@nestjs/common/constants';
import { ApplicationConfig } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper';
import { texts } from '../log/texts';
import { textOf } from '../log/thrown';
import { isModuleCheck } from '../subscribe/module-check';
import type { HandlerMethod } from './explorer';

/** Guards, pipes, interceptors and filters that apply to one handler, by their names. */
export interface Enhancers {
  readonly guards: readonly string[];
  readonly pipes: readonly string[];
  readonly interceptors: readonly string[];
  readonly filters: readonly string[];
}

type RequestScoped = { readonly [kind in keyof Enhancers]: readonly InstanceWrapper[] };

const NONE: RequestScoped = { guards: [], pipes: [], interceptors: [], filters: [] };

/** How much of a stack is searched for the name of an enhancer. */
const LONGEST_STACK = 16_384;

const METADATA = {
  guards: GUARDS_METADATA,
  pipes: PIPES_METADATA,
  interceptors: INTERCEPTORS_METADATA,
  filters: EXCEPTION_FILTERS_METADATA,
} as const;

/** Knows which of Nest's enhancers apply to a handler: the application's own, the class's, the method's. */
@Injectable()
export class EnhancerFinder {
  constructor(private readonly config: ApplicationConfig) {}

  /**
   * Global enhancers count: what a global guard denies must not run.
   * @param requestScope whether those that are request-scoped run.
   */
  of(handler: HandlerMethod, requestScope: boolean): Enhancers {
    const { config } = this;
    const scoped = requestScope ? this.#requestScoped() : NONE;
    const named = (kind: keyof Enhancers, global: readonly unknown[]): readonly string[] => [
      ...namesOf(global),
      ...scoped[kind].map(({ name }) => name),
      ...localNames(handler, kind),
    ];
    return {
      guards: named('guards', config.getGlobalGuards()),
      pipes: named('pipes', config.getGlobalPipes()),
      interceptors: named('interceptors', config.getGlobalInterceptors()),
      filters: named('filters', config.getGlobalFilters()),
    };
  }

  /** The names of the application's global pipes. */
  globalPipes(): readonly string[] {
    return namesOf(this.config.getGlobalPipes());
  }

  /** Global enhancers that are request-scoped: they run for subscriptions with `requestScope` only. */
  requestScoped(): readonly InstanceWrapper[] {
    return Object.values(this.#requestScoped()).flat();
  }

  #requestScoped(): RequestScoped {
    const { config } = this;
    return {
      guards: config.getGlobalRequestGuards(),
      pipes: config.getGlobalRequestPipes(),
      interceptors: config.getGlobalRequestInterceptors(),
      filters: config.getGlobalRequestFilters(),
    };
  }
}

/** Whether any enhancer applies. */
export function hasEnhancers({ guards, pipes, interceptors, filters }: Enhancers): boolean {
  return guards.length + pipes.length + interceptors.length + filters.length > 0;
}

/** Nest ignores enhancers that a controller names by class, a line each. */
export function controllerFaults(handler: HandlerMethod): string[] {
  if (!handler.isController) return [];
  return (Object.keys(METADATA) as (keyof typeof METADATA)[]).flatMap((kind) =>
    localEnhancers(handler, kind)
      .filter((enhancer) => typeof enhancer === 'function')
      .map((enhancer) => texts.classEnhancerOnController(handler.label, kind, nameOf(enhancer))),
  );
}

/**
 * The enhancer that raised an error, as its stack tells, else those that may have, by kind: guards and
 * pipes before the body began, interceptors and filters at any time.
 */
export function enhancerNameFor(error: unknown, enhancers: Enhancers, entered: boolean): string {
  const before = entered ? [] : [...enhancers.guards, ...enhancers.pipes];
  const all = [...before, ...enhancers.interceptors, ...enhancers.filters];
  const seen = nameInStack(error, all);
  if (seen !== undefined) return seen;
  // A denial is raised by Nest itself.
  const isDenial = textOf(error, 'message') === 'Forbidden resource';
  return texts.oneOf(isDenial && enhancers.guards.length > 0 ? enhancers.guards : all);
}

/** The pipe that raised an error; those of a single parameter are not known by name. */
export function pipeNameFor(error: unknown, { pipes }: Enhancers): string {
  return nameInStack(error, pipes) ?? (pipes.length === 0 ? texts.aPipe : texts.oneOf(pipes));
}

function nameInStack(error: unknown, names: readonly string[]): string | undefined {
  const stack = textOf(error, 'stack', LONGEST_STACK) ?? '';
  return names.find((name) => stack.includes(`at ${name}.`) || stack.includes(`at async ${name}.`));
}

function localNames(handler: HandlerMethod, kind: keyof typeof METADATA): string[] {
  return namesOf(localEnhancers(handler, kind));
}

function localEnhancers({ type, method }: HandlerMethod, kind: keyof typeof METADATA): unknown[] {
  const key = METADATA[kind];
  const onMethod: unknown = type.prototype[method];
  return [type, onMethod].flatMap((host) =>
    typeof host === 'function' ? withoutModuleCheck(Reflect.getMetadata(key, host)) : [],
  );
}

/** A list of enhancers without the one that the decorator itself has added. */
export function withoutModuleCheck(enhancers: unknown): unknown[] {
  return Array.isArray(enhancers) ? enhancers.filter((one) => !isModuleCheck(one)) : [];
}

function namesOf(enhancers: readonly unknown[]): string[] {
  return enhancers.map(nameOf);
}

function nameOf(enhancer: unknown): string {
  if (typeof enhancer === 'function') return enhancer.name;
  return (enhancer as object | undefined)?.constructor?.name ?? '';
}
