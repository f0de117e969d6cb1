// Checked by the compiler only: each line marked as an error has to be one.
import {
  ack,
  type Backoff,
  type DeliveryInterceptor,
  type Duration,
  drop,
  exponential,
  fixed,
  linear,
  on,
  Panic,
  retryAfter,
  SettleModule,
  type SubscribeOptions,
  steps,
} from '../../lib';

class BankTimeout extends Error {}
abstract class Declined extends Error {
  abstract readonly reason: string;
}

export const all: SubscribeOptions = {
  exchange: 'orders',
  routingKey: ['a', 'b'],
  bindings: [{ exchange: 'x', routingKey: 'y' }],
  queue: 'billing',
  queueOptions: { consumerOptions: { priority: 1 }, channel: 'slow' },
  createQueueIfNotExists: false,
  connection: 'main',
  name: 'orders',
  deserializer: (content) => content.toString(),
  allowNonJsonMessages: true,
  queueType: 'quorum',
  prefetch: 50,
  retry: {
    attempts: 5,
    backoff: exponential('1s', { factor: 3, max: '5m', jitter: 0.2 }),
    by: 'client',
  },
  deadLetter: { queue: 'dead', by: 'broker', stack: true, queueOptions: { maxLength: 10 } },
  timeout: '30s',
  onError: [on(BankTimeout, 'retryAfter'), on([Declined, TypeError], drop('no')), 'drop'],
  onPanic: 'failFastOnce',
  onInvalidPayload: retryAfter(5),
  requestScope: true,
  noAck: false,
  declare: { queue: false, waiting: true, deadLetter: true },
};

export const short: SubscribeOptions[] = [
  { queue: 'q', deadLetter: 'dead', onError: 'retry', declare: false },
  { queue: 'q', onError: ack(), timeout: 500 },
  { queue: 'q', onError: [on((error, delivery) => delivery.attempt > 1 && error === 1, 'skip')] },
  { exchange: 'x', routingKey: 'y' },
];

class RateLimited extends Error {
  readonly resetAt: number = 0;
}

export const byError: SubscribeOptions[] = [
  { queue: 'q', onError: (error, delivery) => (error === delivery.messageId ? ack() : 'skip') },
  { queue: 'q', onPanic: (error) => drop(String(error)), onInvalidPayload: () => ack() },
  { queue: 'q', onError: [on(RateLimited, (error) => retryAfter(error.resetAt - Date.now()))] },
  {
    queue: 'q',
    onError: [
      on([RateLimited, Declined], (error) =>
        error instanceof RateLimited ? retryAfter(error.resetAt) : drop(error.message),
      ),
      on(
        (error): error is RateLimited => error instanceof RateLimited,
        ({ resetAt }) => retryAfter(resetAt),
      ),
      on(
        (error, delivery) => error === delivery.attempt,
        (error, delivery) => drop(`${error} ${delivery.attempt}`),
      ),
      (error) => drop(String(error)),
    ],
  },
];
// @ts-expect-error An error that no rule has narrowed is unknown.
export const unknownError: SubscribeOptions = { queue: 'q', onError: (error) => drop(error.stack) };
// @ts-expect-error The class of the rule has no such property.
export const otherClass = on(Declined, (error) => retryAfter(error.resetAt));
// @ts-expect-error A policy returns an outcome.
export const noOutcome: SubscribeOptions = { queue: 'q', onError: () => undefined };
// @ts-expect-error A policy is not asynchronous.
export const later: SubscribeOptions = { queue: 'q', onError: async () => ack() };

// @ts-expect-error errorHandler belongs to golevelup.
export const errorHandler: SubscribeOptions = { queue: 'q', errorHandler: () => undefined };
// @ts-expect-error So does errorBehavior.
export const errorBehavior: SubscribeOptions = { queue: 'q', errorBehavior: 'ACK' };
// @ts-expect-error So does batchOptions.
export const batchOptions: SubscribeOptions = { queue: 'q', batchOptions: { size: 10 } };
// @ts-expect-error attempts is required in retry.
export const attempts: SubscribeOptions = { queue: 'q', retry: { backoff: fixed('1s') } };
// @ts-expect-error There are two types of queues.
export const queueType: SubscribeOptions = { queue: 'q', queueType: 'stream' };
// @ts-expect-error No such policy.
export const policy: SubscribeOptions = { queue: 'q', onError: 'ignore' };
// @ts-expect-error Rules are for onError only.
export const panicRules: SubscribeOptions = { queue: 'q', onPanic: [on(Panic, 'drop')] };
// @ts-expect-error A duration has a unit.
export const timeout: SubscribeOptions = { queue: 'q', timeout: '30' };
// @ts-expect-error No such unit.
export const unit: Duration = '3w';
// @ts-expect-error A name that can be undefined is a mistake.
export const queue: SubscribeOptions = { queue: process.env['QUEUE'] };
// @ts-expect-error A rule needs a policy.
export const rule = on(BankTimeout);
// @ts-expect-error A text is nothing to match.
export const match = on('BankTimeout', 'drop');

export const backoffs: Backoff[] = [
  fixed(5),
  linear('5s', { max: '1m' }),
  steps(['1s', 5_000, '1m'], { jitter: 1 }),
  { delay: (attempt) => attempt * 1_000 },
];
// @ts-expect-error Only exponential() has a factor.
export const factor = linear('1s', { factor: 2 });

const interceptor: DeliveryInterceptor = async (delivery, next) => {
  const outcome = await next();
  return delivery.isLastAttempt && outcome.kind === 'retry' ? drop('last') : outcome;
};

export const modules = [
  SettleModule.forRoot(),
  SettleModule.forRoot({
    defaults: { prefetch: 5, deadLetter: (name) => `${name}.dead` },
    interceptors: [interceptor],
    isPanic: (error) => (error instanceof RangeError ? true : undefined),
    shutdownTimeout: '25s',
    abortGracePeriod: 5_000,
    republishTimeout: '30s',
    onRefused: 'continue',
    onFailFast: async ({ delivery, subscription, error }) => {
      void [delivery.messageId, subscription.handler, error];
    },
  }),
  SettleModule.forRootAsync({
    inject: ['x'],
    useFactory: async (x: number) => ({ defaults: { prefetch: x } }),
  }),
  SettleModule.forRootAsync({
    useClass: class {
      createSettleOptions = () => ({ onRefused: 'fail' as const });
    },
  }),
];
// @ts-expect-error No such option.
SettleModule.forRoot({ prefetch: 5 });
// @ts-expect-error A dead-letter queue of the defaults would be that of all queues.
SettleModule.forRoot({ defaults: { deadLetter: 'dead' } });
// @ts-expect-error A queue is no default.
SettleModule.forRoot({ defaults: { queue: 'q' } });
