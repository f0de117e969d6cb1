// @ts-check
/**
 * Measures the testing kit of the built package: how long a module with ten subscriptions takes to boot in a
 * test, and a test that goes through five backoff steps of up to 15 minutes. Prints medians beside the limits;
 * exits with 1 where one is above its limit.
 */
import 'reflect-metadata';
import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { exponential, retryAfter, SettleModule, Subscribe } from 'nestjs-settle';
import { SettleTest } from 'nestjs-settle/testing';

const ROUNDS = 30;
const SUBSCRIPTIONS = 10;
const LIMITS = { boot: 300, backoff: 50 };

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

/** A provider with one subscription, which fails until its attempts are used up. */
function providerOf(/** @type {number} */ number) {
  class Handler {
    handle() {
      return retryAfter();
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Handler.prototype, 'handle');
  Subscribe({
    exchange: 'orders',
    routingKey: `order.${number}`,
    queue: `queue.${number}`,
    queueType: 'quorum',
    // 1 s, 5.5 s, 30 s, 164 s, 900 s.
    retry: { attempts: 6, backoff: exponential('1s', { factor: 900 ** 0.25, max: '15m' }) },
    deadLetter: `queue.${number}.dead`,
  })(Handler.prototype, 'handle', /** @type {PropertyDescriptor} */ (descriptor));
  return Handler;
}

const providers = Array.from({ length: SUBSCRIPTIONS }, (_, number) => providerOf(number));
const [First = providerOf(-1)] = providers;

function boot() {
  const exchanges = [{ name: 'orders', type: 'topic' }];
  const rabbit = { uri: 'amqp://nowhere.invalid', exchanges, logger: SILENT };
  return SettleTest.create({
    imports: [RabbitMQModule.forRoot(rabbit), SettleModule.forRoot({ logger: SILENT })],
    providers,
  }).compile();
}

/** @type {{ boot: number[], backoff: number[] }} */
const times = { boot: [], backoff: [] };
for (let round = 0; round < ROUNDS; round += 1) {
  const begin = performance.now();
  const test = await boot();
  times.boot.push(performance.now() - begin);
  const middle = performance.now();
  await test.deliver(First, 'handle', { id: round });
  await test.advance('30m');
  times.backoff.push(performance.now() - middle);
  const attempts = test.settlements(First, 'handle').map(({ attempt }) => attempt);
  if (attempts.join() !== '1,2,3,4,5,6') throw new Error(`attempts ${attempts}`);
  await test.close();
}

report('booting a module with ten subscriptions', times.boot, LIMITS.boot);
report('five backoff steps up to 15 minutes', times.backoff, LIMITS.backoff);

function report(
  /** @type {string} */ what,
  /** @type {number[]} */ ms,
  /** @type {number} */ limit,
) {
  const [first = 0] = ms;
  const sorted = [...ms].sort((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const longest = sorted.at(-1) ?? 0;
  console.log(
    `${what}: median ${median.toFixed(1)} ms (limit ${limit} ms), first ${first.toFixed(1)} ms, longest ${longest.toFixed(1)} ms`,
  );
  if (median > limit) process.exitCode = 1;
}
