import 'reflect-metadata';
import { PARAMTYPES_METADATA, ROUTE_ARGS_METADATA } from '@nestjs/common/constants';
import type { ParamsFactory } from '@nestjs/core/helpers/external-context-creator';
import { DELIVERY_PARAMETER } from '../delivery/delivery.decorator';
import { texts } from '../log/texts';
import type { HandlerMethod } from './explorer';
import { PARAMETER } from './golevelup-metadata';

interface ParameterMetadata {
  readonly index: number;
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
}

/** The parameters of a handler, by Nest's key of kind and index. */
export type HandlerParameters = Readonly<Record<string, ParameterMetadata>>;

const PAYLOAD_KEY = `${PARAMETER.payload}:0`;

const PAYLOAD: HandlerParameters = {
  [PAYLOAD_KEY]: { index: 0, data: undefined, pipes: [] },
};

/** The decorated parameters of a handler. */
function decoratedParameters({ type, method }: HandlerMethod): HandlerParameters {
  return (
    (Reflect.getMetadata(ROUTE_ARGS_METADATA, type, method) as HandlerParameters | undefined) ?? {}
  );
}

/** Whether any parameter of a handler is decorated; otherwise it receives all four values in order. */
export function hasDecoratedParameters(handler: HandlerMethod): boolean {
  return Object.keys(decoratedParameters(handler)).length > 0;
}

/** The declared types of a handler's parameters, if the compiler has emitted them. */
export function parameterTypes({ type, method }: HandlerMethod): readonly unknown[] | undefined {
  return Reflect.getMetadata(PARAMTYPES_METADATA, type.prototype, method) as unknown[] | undefined;
}

/** The parameters that Nest resolves: the decorated ones, and the payload at index 0 if that has no decorator. */
export function parametersOf(handler: HandlerMethod): HandlerParameters {
  const decorated = decoratedParameters(handler);
  const isTaken = Object.values(decorated).some(({ index }) => index === 0);
  return isTaken ? decorated : { ...decorated, ...PAYLOAD };
}

/** Whether a handler has a first parameter without a decorator: it receives the payload. */
export function hasUndecoratedPayload(handler: HandlerMethod): boolean {
  const isPayload = parametersOf(handler)[PAYLOAD_KEY] === PAYLOAD[PAYLOAD_KEY];
  return isPayload && parameterCount(handler) > 0;
}

/** Undecorated parameters beside decorated ones, a line each. */
export function parameterFaults(handler: HandlerMethod): string[] {
  if (!hasDecoratedParameters(handler)) return [];
  const filled = new Set(Object.values(parametersOf(handler)).map(({ index }) => index));
  return Array.from({ length: parameterCount(handler) }, (_, index) => index)
    .filter((index) => !filled.has(index))
    .map((index) => texts.undecoratedParameter(handler.label, index));
}

function parameterCount(handler: HandlerMethod): number {
  const method: unknown = Reflect.get(handler.instance, handler.method);
  const arity = typeof method === 'function' ? method.length : 0;
  return parameterTypes(handler)?.length ?? arity;
}

/** Reads a parameter's value from the call's arguments: payload, message, headers, delivery. */
export const parameterValues: ParamsFactory = {
  exchangeKeyForValue(kind: number, data: unknown, args: unknown[]) {
    const value = args[positionOf(kind)];
    const isName = typeof data === 'string' && data !== '';
    return isName ? (value as Record<string, unknown> | undefined)?.[data] : value;
  },
};

function positionOf(kind: number): number {
  if (kind === PARAMETER.message) return 1;
  if (kind === PARAMETER.header) return 2;
  return kind === DELIVERY_PARAMETER ? 3 : 0;
}
