// What README.md shows of policies; held by test/unit/readme.spec.ts.
import { Injectable } from '@nestjs/common';
import { on, Subscribe } from 'nestjs-settle';

declare class RateLimited extends Error {}
declare class NotFound extends Error {}
declare class Gone extends Error {}

@Injectable()
export class Catalogue {
  @Subscribe({
    queue: 'catalogue',
    retry: { attempts: 10 },
    deadLetter: 'catalogue.dead',
    onError: [
      on(RateLimited, 'retryAfter'),
      on([NotFound, Gone], 'skip'),
      on((error, delivery) => !delivery.isLastAttempt && isNetworkError(error), 'retryAfter'),
      'drop',
    ],
    onPanic: 'failFastOnce',
  })
  async update(): Promise<void> {}
}

function isNetworkError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
}
