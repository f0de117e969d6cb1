// @ts-check
/**
 * One consumer in a process of its own: `node consumer.mjs settle|golevelup URI QUEUE MESSAGES
 * PREFETCH`, started by `measure.mjs`. Tells its parent how long it took from
 * the first message to the last and how much of the processor it used meanwhile.
 */
import 'reflect-metadata';
import { RabbitMQModule, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { exponential, SettleModule, Subscribe } from 'nestjs-settle';

const [kind, uri = '', queue = '', messages, prefetch] = process.argv.slice(2);
const most = Number(messages);

/** @type {(value?: unknown) => void} */
let allHandled = () => {};
const handled = new Promise((resolve) => {
  allHandled = resolve;
});
let count = 0;
let startedAt = 0;
let cpuAtStart = process.cpuUsage();

class Handler {
  /** Empty but for the measuring, which is the same in both. */
  handle() {
    if (count === 0) {
      startedAt = performance.now();
      cpuAtStart = process.cpuUsage();
    }
    count += 1;
    if (count === most) allHandled();
  }
}

const subscribe =
  kind === 'settle'
    ? Subscribe({
        queue,
        retry: { attempts: 5, backoff: exponential('1s', { max: '5m', jitter: 0.2 }) },
        deadLetter: `${queue}.dead`,
        onError: 'retryAfter',
        onPanic: 'failFastOnce',
        onUndecodable: 'drop',
      })
    : RabbitSubscribe({ queue });
const descriptor = Object.getOwnPropertyDescriptor(Handler.prototype, 'handle') ?? {};
subscribe(Handler.prototype, 'handle', descriptor);

const imports = [
  RabbitMQModule.forRoot({ uri, prefetchCount: Number(prefetch) }),
  ...(kind === 'settle' ? [SettleModule.forRoot()] : []),
];
class AppModule {}
Module({ imports, providers: [Handler] })(AppModule);

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error', 'warn'] });
await handled;
const ms = performance.now() - startedAt;
const { user, system } = process.cpuUsage(cpuAtStart);
await app.close();
process.send?.({ ms, cpuMicroseconds: user + system });
process.disconnect?.();
