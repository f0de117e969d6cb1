import { gunzipSync, gzipSync } from 'node:zlib';
import {
  AmqpConnection,
  isRabbitContext,
  MessageHandlerErrorBehavior,
} from '@golevelup/nestjs-rabbitmq';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Subscribe, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';

// The situations that golevelup supports with @RabbitSubscribe, with @Subscribe in its place.

const broker = await openBroker();

/** A provider with one handler that keeps its payloads. */
function recording(...list: readonly SubscribeOptions[]) {
  const payloads: unknown[] = [];
  @Injectable()
  class Recording {
    async handle(payload: unknown): Promise<void> {
      payloads.push(payload);
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Recording.prototype, 'handle');
  for (const options of list)
    Subscribe(options)(Recording.prototype, 'handle', descriptor as never);
  return { Recording, payloads };
}

describe('subscribing', () => {
  it('delivers the messages of several routing keys of a topic exchange', async () => {
    const [exchange, queue] = [unique('topic'), unique('keys')];
    const { Recording, payloads } = recording({
      exchange,
      routingKey: ['first.*', 'second.#'],
      queue,
    });
    const { app } = await startApp({
      providers: [Recording],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
    });
    const amqp = app.get(AmqpConnection);
    for (const key of ['first.a', 'second.b.c', 'third.a', 'first.a.b']) {
      await amqp.publish(exchange, key, key);
    }
    await until(() => payloads.length === 2);
    expect(payloads).toEqual(['first.a', 'second.b.c']);
  });

  it('binds a queue to several exchanges with a routing key each', async () => {
    const [one, two, queue] = [unique('one'), unique('two'), unique('bindings')];
    const { Recording, payloads } = recording({
      queue,
      bindings: [
        { exchange: one, routingKey: 'a' },
        { exchange: two, routingKey: 'b' },
      ],
    });
    const { app } = await startApp({
      providers: [Recording],
      rabbit: {
        exchanges: [
          { name: one, type: 'topic' },
          { name: two, type: 'direct' },
        ],
      },
    });
    const amqp = app.get(AmqpConnection);
    await amqp.publish(one, 'a', 'from one');
    await amqp.publish(two, 'b', 'from two');
    await amqp.publish(two, 'a', 'to nobody');
    await until(() => payloads.length === 2);
    expect([...payloads].sort()).toEqual(['from one', 'from two']);
  });

  it('delivers the messages of a fanout exchange without a routing key', async () => {
    const [exchange, queue] = [unique('fanout'), unique('all')];
    const { Recording, payloads } = recording({ exchange, queue });
    const { app } = await startApp({
      providers: [Recording],
      rabbit: { exchanges: [{ name: exchange, type: 'fanout' }] },
    });
    await app.get(AmqpConnection).publish(exchange, '', 'to everybody');
    await until(() => payloads.length === 1);
  });

  it('consumes a queue without an exchange, new or existing', async () => {
    const [fresh, existing] = [unique('fresh'), unique('existing')];
    await broker.declare(existing, { durable: true });
    await broker.send(existing, 'before startup');
    const one = recording({ queue: fresh });
    const other = recording({ queue: existing, createQueueIfNotExists: false });
    await startApp({ providers: [one.Recording, other.Recording] });
    await broker.send(fresh, 'after startup');
    await until(() => one.payloads.length === 1 && other.payloads.length === 1);
  });

  it('takes the options of its name from the handlers of the connection, also several', async () => {
    const [exchange, one, two] = [unique('named'), unique('one'), unique('two')];
    const { Recording, payloads } = recording({ name: 'orders' });
    const { app } = await startApp({
      providers: [Recording],
      rabbit: {
        exchanges: [{ name: exchange, type: 'direct' }],
        handlers: {
          orders: [
            { exchange, routingKey: 'one', queue: one },
            { exchange, routingKey: 'two', queue: two },
          ],
        },
      },
    });
    const amqp = app.get(AmqpConnection);
    await amqp.publish(exchange, 'one', 1);
    await amqp.publish(exchange, 'two', 2);
    await until(() => payloads.length === 2);
    expect([...payloads].sort()).toEqual([1, 2]);
  });

  it('passes text that is not JSON on as it is with allowNonJsonMessages', async () => {
    const queue = unique('text');
    const { Recording, payloads } = recording({ queue, allowNonJsonMessages: true });
    await startApp({ providers: [Recording] });
    await broker.send(queue, Buffer.from('{not json'));
    await broker.send(queue, Buffer.from('{"json":true}'));
    await until(() => payloads.length === 2);
    expect(payloads).toEqual(['{not json', { json: true }]);
  });

  it('uses the consumer tag of the decorator', async () => {
    const [queue, tag] = [unique('tagged'), unique('tag')];
    let seen: unknown;
    @Injectable()
    class Tagged {
      @Subscribe({ queue, queueOptions: { consumerOptions: { consumerTag: tag } } })
      async handle(_payload: unknown, message: { fields: object }): Promise<void> {
        seen = message.fields;
      }
    }
    await startApp({ providers: [Tagged] });
    await broker.send(queue, 1);
    await until(() => seen !== undefined);
    expect(seen).toMatchObject({ consumerTag: tag });
  });
});

/** A global interceptor that notes what a handler's context looks like. */
class ContextInterceptor implements NestInterceptor {
  readonly contexts: { readonly type: string; readonly isRabbit: boolean }[] = [];

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    this.contexts.push({ type: context.getType(), isRabbit: isRabbitContext(context) });
    return next.handle();
  }
}

describe('the execution context', () => {
  it('has the type rmq and is a RabbitMQ context for golevelup', async () => {
    const queue = unique('context');
    const interceptor = new ContextInterceptor();
    const { Recording, payloads } = recording({ queue });
    await startApp({
      providers: [Recording],
      prepare: (app) => app.useGlobalInterceptors(interceptor),
    });
    await broker.send(queue, 1);
    await until(() => payloads.length === 1);
    expect(interceptor.contexts).toEqual([{ type: 'rmq', isRabbit: true }]);
  });
});

describe('serialization', () => {
  const unzipped = (content: Buffer): unknown => JSON.parse(gunzipSync(content).toString());
  const zipped = (value: unknown): Buffer => gzipSync(JSON.stringify(value));

  it('uses the deserializer of the connection, and that of a subscription before it', async () => {
    const [one, two] = [unique('connection'), unique('own')];
    const calls: string[] = [];
    const first = recording({ queue: one });
    const second = recording({
      queue: two,
      deserializer: (content: Buffer) => {
        calls.push('own');
        return unzipped(content);
      },
    });
    const { app } = await startApp({
      providers: [first.Recording, second.Recording],
      rabbit: {
        serializer: zipped,
        deserializer: (content: Buffer) => {
          calls.push('connection');
          return unzipped(content);
        },
      },
    });
    const amqp = app.get(AmqpConnection);
    await amqp.publish('', one, { id: 1 });
    await until(() => first.payloads.length === 1);
    await amqp.publish('', two, { id: 2 });
    await until(() => second.payloads.length === 1);
    expect([first.payloads, second.payloads]).toEqual([[{ id: 1 }], [{ id: 2 }]]);
    expect(calls).toEqual(['connection', 'own']);
  });
});

describe('closing the application', () => {
  it('waits for a running handler, and leaves other messages in the queue', async () => {
    const queue = unique('closing');
    const finished: unknown[] = [];
    let finish = (): void => {};
    @Injectable()
    class Slow {
      @Subscribe({ queue, prefetch: 1 })
      async handle(payload: unknown): Promise<void> {
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        finished.push(payload);
      }
    }
    const { app, registry } = await startApp({ providers: [Slow] });
    await broker.send(queue, 'running');
    await broker.send(queue, 'waiting');
    await until(() => registry.get(Slow, 'handle').inFlight === 1);
    let isClosed = false;
    const closed = app.close().then(() => {
      isClosed = true;
    });
    await until(async () => (await broker.consumers(queue)) === 0);
    expect([isClosed, finished]).toEqual([false, []]);
    finish();
    await closed;
    expect(finished).toEqual(['running']);
    await broker.waitForReady(queue, 1);
  });
});

describe('cancelling and resuming', () => {
  it('stops and continues a subscription through the registry', async () => {
    const queue = unique('resuming');
    const { Recording, payloads } = recording({ queue });
    const { registry } = await startApp({ providers: [Recording] });
    await broker.send(queue, 1);
    await until(() => payloads.length === 1);
    await registry.pause(Recording, 'handle');
    await broker.send(queue, 2);
    await broker.waitForReady(queue, 1);
    expect(payloads).toEqual([1]);
    await registry.resume(Recording, 'handle');
    await until(() => payloads.length === 2);
  });

  it('leaves a consumer that is created through golevelup’s connection alone', async () => {
    const [exchange, queue, own] = [unique('exchange'), unique('golevelup'), unique('own')];
    const { Recording } = recording({ queue: own });
    const { app } = await startApp({
      providers: [Recording],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
    });
    const amqp = app.get(AmqpConnection);
    const received: unknown[] = [];
    const { consumerTag } = await amqp.createSubscriber(
      async (message: unknown) => void received.push(message),
      { exchange, routingKey: 'key', queue },
      'manual',
    );
    await amqp.publish(exchange, 'key', 1);
    await until(() => received.length === 1);
    await amqp.cancelConsumer(consumerTag);
    await until(async () => (await broker.consumers(queue)) === 0);
    await amqp.publish(exchange, 'key', 2);
    await broker.waitForReady(queue, 1);
    await amqp.resumeConsumer(consumerTag);
    await until(() => received.length === 2);
  });
});

describe('options of RabbitMQModule', () => {
  /** A handler that keeps the consumer tag of its last delivery. */
  function tagged(options: SubscribeOptions) {
    const tags: unknown[] = [];
    @Injectable()
    class Tagged {
      @Subscribe(options)
      async handle(_payload: unknown, message: { fields: { consumerTag?: string } }) {
        tags.push(message.fields.consumerTag);
      }
    }
    return { Tagged, tags };
  }

  it('set the consumer tag of a queue, unless the subscription does', async () => {
    const [one, two, tag, own] = [unique('one'), unique('two'), unique('tag'), unique('own')];
    const first = tagged({ queue: one });
    const consumerOptions = { consumerTag: own };
    const second = tagged({ queue: two, queueOptions: { consumerOptions } });
    await startApp({
      providers: [first.Tagged, second.Tagged],
      rabbit: {
        queues: [
          { name: one, consumerTag: tag, options: { durable: true } },
          { name: two, consumerTag: tag, options: { durable: true } },
        ],
      },
    });
    await broker.send(one, 1);
    await broker.send(two, 1);
    await until(() => first.tags.length === 1 && second.tags.length === 1);
    expect([first.tags, second.tags]).toEqual([[tag], [own]]);
  });

  it('that decide failures of @RabbitSubscribe are reported at startup, once', async () => {
    const rabbit = { defaultSubscribeErrorBehavior: MessageHandlerErrorBehavior.NACK };
    const parts = () => [recording({ queue: unique('errors') }).Recording];
    const { log } = await startApp({ providers: [...parts(), ...parts()], rabbit });
    const line = /^\[ignored-option\] .*defaultSubscribeErrorBehavior NACK does not apply/;
    expect(log.matching(line, ['warn'])).toHaveLength(1);
    const settle = { defaults: { onError: 'drop' as const } };
    const decided = await startApp({ providers: parts(), rabbit, settle });
    expect(decided.log.matching(/\[ignored-option\]/)).toEqual([]);
  });
});
