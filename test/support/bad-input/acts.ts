import { Nack } from '@golevelup/nestjs-rabbitmq';
import { EMPTY, of, throwError } from 'rxjs';
import { ack, drop, retry, retryAfter } from '../../../lib';

function fail(): never {
  throw new Error('unreadable');
}

const unreadable = (): object =>
  new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail });

function raise(value: unknown): never {
  throw value;
}

/** What a handler does. */
export type Act = () => unknown;

/** What handlers return and throw: what they may, and what no type allows. */
export const ACTS: readonly Act[] = [
  () => undefined,
  async () => undefined,
  () => retry(),
  () => retryAfter(20),
  () => drop(),
  () => drop('a reason\u001b[2J\nwith a line break'),
  () => drop('r'.repeat(100_000)),
  () => drop(unreadable() as never),
  () => null,
  () => Number.NaN,
  () => Symbol('ack'),
  () => 1n,
  () => ({ kind: 'ack' }),
  () => ({ ...drop(), kind: 'dead' }),
  () => new Nack(),
  () => new Nack(true),
  () => of(drop()),
  () => EMPTY,
  () => throwError(() => undefined),
  () => unreadable(),
  () => ({ then: fail }),
  () => Object.defineProperty({}, 'then', { get: fail }),
  () => Promise.reject(undefined),
  () => Promise.reject(retry()),
  () => retryAfter(Number.NaN),
  () => retryAfter(-1),
  () => retryAfter(Number.POSITIVE_INFINITY),
  () => retryAfter('soon' as never),
  () => retryAfter(Symbol('soon') as never),
  () => retryAfter(1n as never),
  () => retryAfter(unreadable() as never),
  () => retryAfter({ valueOf: fail, toString: fail } as never),
  () => ack().andAfter(fail),
  () => ack().andAfter(() => Promise.reject(unreadable())),
  () => raise(null),
  () => raise(drop()),
  () => raise(Object.create(null)),
  () => raise(unreadable()),
  () => raise(new Proxy(new Error('hidden'), { get: fail, has: fail })),
  () => raise(Object.assign(new Error('x'.repeat(100_000)), { stack: ' '.repeat(100_000) })),
  () => raise(Object.assign(new Error('\u0000\u001b[2J\n[Nest] 1'), { name: '\r\nERROR' })),
  () => raise(Object.defineProperty(new Error('no message'), 'message', { get: fail })),
  () => raise(Object.assign(new Error('wrapped'), { cause: unreadable() })),
  () => raise(new AggregateError([unreadable(), null, 'text'])),
  () => raise(() => undefined),
  () => raise([new Error('one'), [[]]]),
];
