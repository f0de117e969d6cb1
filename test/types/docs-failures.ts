// The snippets of docs/failures.md and docs/retries.md.
import { Injectable } from '@nestjs/common';
import {
  drop,
  exponential,
  http,
  network,
  on,
  Panic,
  retryAfter,
  Subscribe,
  sqlState,
  steps,
} from 'nestjs-settle';

declare class RateLimited extends Error {
  readonly resetAt: number;
}
declare class Unavailable extends Error {}
declare class NotFound extends Error {}
declare class Gone extends Error {}
declare class InvariantViolation extends Error {}
declare function isUnavailable(error: unknown): boolean;

@Injectable()
export class Catalogue {
  @Subscribe({
    queue: 'catalogue',
    retry: { attempts: 10, backoff: steps(['1s', '10s', '1m', '10m']) },
    deadLetter: 'catalogue.dead',
    onError: [
      on(RateLimited, (error) => retryAfter(Math.max(0, error.resetAt - Date.now()))),
      on(Unavailable, 'retryAfter'),
      on([NotFound, Gone], 'skip'),
      on((error, delivery) => !delivery.isLastAttempt && isUnavailable(error), 'retryAfter'),
      on(network(), 'retryAfter'),
      drop('no rule matched'),
    ],
    onPanic: 'failFastOnce',
  })
  async update(item: { readonly stock: number }): Promise<void> {
    if (item.stock < 0) throw new Panic('the stock can never be negative');
  }
}

@Injectable()
export class Prices {
  @Subscribe({
    queue: 'prices',
    retry: { attempts: 1_000, maxAge: '1d', backoff: exponential('1s', { max: '10m' }) },
    onError: [
      on(http(429, 503), 'retryAfter'),
      on(network(), 'retryAfter'),
      on(sqlState('40', '08'), 'retry'),
      on(sqlState('23505'), 'skip'),
      'drop',
    ],
  })
  async store(): Promise<void> {}
}

export const isPanic = (error: unknown): true | undefined =>
  error instanceof InvariantViolation ? true : undefined;
