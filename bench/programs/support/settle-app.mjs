// @ts-check
import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { decorate, startContext } from './nest.mjs';
import { job, runProgram } from './program.mjs';
import { ack, exponential, SettleModule, SettlementEvents, Subscribe } from './settle.mjs';

/** @typedef {import('./program.mjs').Handle} Handle */
/** @typedef {Partial<import('nestjs-settle').SubscribeOptions>} Options */
/** @typedef {NonNullable<import('@nestjs/common').ModuleMetadata['imports']>} Imports */
/** @typedef {{ options?: Options, apply?: (type: Function) => void, andAfter?: boolean, events?: boolean, imports?: Imports, settle?: import('nestjs-settle').SettleModuleOptions }} Wishes */

/** Retry, dead letter and every policy. */
export const DECLARED = /** @type {const} */ ({
  retry: { attempts: 5, backoff: exponential('1s', { max: '5m', jitter: 0.2 }) },
  deadLetter: job.dead,
  onError: 'retryAfter',
  onPanic: 'failFastOnce',
  onInvalidPayload: 'drop',
});

/**
 * A subscription of this package. The queue is there already.
 *
 * @param {Wishes} [wishes]
 * @returns {Promise<void>}
 */
export function runSettle({
  options,
  apply = () => {},
  andAfter = false,
  events = false,
  imports = [],
  settle,
} = {}) {
  return runProgram(async (handle) => {
    const type = typeOf(handle, { andAfter, batch: options?.batch !== undefined });
    apply(type);
    const all = { queue: job.queue, declare: { queue: false }, ...options };
    const app = await startSettle(type, all, imports, settle);
    if (events) app.get(SettlementEvents).subscribe(() => {});
    return () => app.close();
  });
}

/**
 * @param {new () => object} type
 * @param {Options} options
 * @param {Imports} [others]
 * @param {import('nestjs-settle').SettleModuleOptions} [settle]
 */
export function startSettle(type, options, others = [], settle = {}) {
  const { queueType, uri, prefetch: prefetchCount } = job;
  decorate(type, [
    Subscribe(/** @type {import('nestjs-settle').SubscribeOptions} */ ({ queueType, ...options })),
  ]);
  const imports = [
    RabbitMQModule.forRoot({ uri, prefetchCount }),
    SettleModule.forRoot(settle),
    ...others,
  ];
  return startContext({ imports, providers: [type] });
}

/**
 * @param {Handle} handle
 * @param {{ andAfter: boolean, batch: boolean }} wishes
 */
function typeOf(handle, { andAfter, batch }) {
  if (batch) return batchHandler(handle);
  return andAfter ? handlerWithWorkAfter(handle) : plainHandler(handle);
}

/**
 * @param {Handle} handle
 */
function batchHandler(handle) {
  return class Handler {
    /**
     * @param {Parameters<Handle>[0][]} payloads
     */
    handle(payloads) {
      for (const payload of payloads) void handle(payload);
    }
  };
}

/**
 * @param {Handle} handle
 */
function plainHandler(handle) {
  return class Handler {
    /**
     * @param {Parameters<Handle>[0]} payload
     */
    handle(payload) {
      return handle(payload);
    }
  };
}

/**
 * @param {Handle} handle
 */
function handlerWithWorkAfter(handle) {
  const after = () => {};
  return class Handler {
    /**
     * @param {Parameters<Handle>[0]} payload
     */
    handle(payload) {
      const result = handle(payload);
      if (result === undefined) return ack().andAfter(after);
      return result.then(() => ack().andAfter(after));
    }
  };
}
