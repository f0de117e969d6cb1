// @ts-check
/** The built package. `bench/` is a package of its own, from which the name `nestjs-settle` leads nowhere. */
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../../package.json', import.meta.url));

export const {
  ack,
  drop,
  fixed,
  linear,
  exponential,
  on,
  retryAfter,
  SettleModule,
  SettlementEvents,
  Subscribe,
} = /** @type {typeof import('nestjs-settle')} */ (require('nestjs-settle'));
