import {
  AmqpConnection,
  RabbitHeader,
  RabbitPayload,
  RabbitRPC,
  RabbitSubscribe,
} from '@golevelup/nestjs-rabbitmq';
import { Injectable, type Type } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Delivery, type Outcome, retry, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';

describe("golevelup's own handlers in the same application", async () => {
  const broker = await openBroker();

  it('keep working unchanged, also in the same class', async () => {
    const name = unique('beside');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      readonly #own = 'instance';

      @RabbitSubscribe({ exchange: name, routingKey: 'event', queue: `${name}.event` })
      event(@RabbitPayload('id') id: unknown, @RabbitHeader('x-a') header: unknown): void {
        seen.push(['event', id, header, this.#own]);
      }

      @RabbitRPC({ exchange: name, routingKey: 'ask', queue: `${name}.ask` })
      async ask(payload: { n: number }): Promise<{ answer: number }> {
        return { answer: payload.n + 1 };
      }

      @Subscribe({
        exchange: name,
        routingKey: 'settle',
        queue: `${name}.settle`,
        retry: { attempts: 2 },
      })
      settle(@Delivery() delivery: Delivery): Outcome | undefined {
        seen.push(['settle', delivery.attempt, this.#own]);
        return delivery.isLastAttempt ? undefined : retry();
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name, type: 'topic' }], enableDirectReplyTo: true },
    });
    await broker.publish(name, 'event', { id: 1 }, { headers: { 'x-a': 'b' } });
    await broker.publish(name, 'settle', {});
    const answer = await app.app
      .get(AmqpConnection)
      .request({ exchange: name, routingKey: 'ask', payload: { n: 41 } });
    expect(answer).toEqual({ answer: 42 });
    await app.settled(2);
    await until(() => seen.length === 3);
    expect(seen).toContainEqual(['event', 1, 'b', 'instance']);
    expect(seen).toContainEqual(['settle', 1, 'instance']);
    expect(seen).toContainEqual(['settle', 2, 'instance']);
    expect(app.registry.list()).toHaveLength(1);
    expect(app.settlements).toHaveLength(2);
  });

  it('keep their parameters next to a subscription in a class of the same name', async () => {
    const queue = unique('namesakes');
    const seen: Record<string, unknown> = {};
    function subscribed(): Type<object> {
      @Injectable()
      class Same {
        @Subscribe({ queue: `${queue}.a` })
        handle(@Delivery() delivery: Delivery, @RabbitPayload('a') a: unknown): void {
          seen['a'] = [delivery.queue, a];
        }
      }
      return Same;
    }
    function rabbitSubscribed(): Type<object> {
      @Injectable()
      class Same {
        @RabbitSubscribe({ queue: `${queue}.b`, exchange: '', routingKey: `${queue}.b` })
        handle(@RabbitPayload('b') b: unknown): void {
          seen['b'] = b;
        }
      }
      return Same;
    }
    const app = await startApp({ providers: [subscribed(), rabbitSubscribed()] });
    await broker.send(`${queue}.a`, { a: 1 });
    await broker.send(`${queue}.b`, { b: 2 });
    await app.settled(1);
    await until(() => 'b' in seen);
    expect(seen).toEqual({ a: [`${queue}.a`, 1], b: 2 });
  });

  it('handle each its own queue when both decorators are on one method', async () => {
    const name = unique('one-method');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @RabbitSubscribe({ exchange: name, routingKey: 'a', queue: `${name}.a` })
      @Subscribe({
        exchange: name,
        routingKey: 'b',
        queue: `${name}.b`,
        deadLetter: `${name}.dead`,
      })
      handle(payload: { id: string }): void {
        seen.push(payload.id);
        if (payload.id === 'b') throw new Error('settled by the module');
      }
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name, type: 'topic' }] },
    });
    await broker.publish(name, 'a', { id: 'a' });
    await broker.publish(name, 'b', { id: 'b' });
    await app.settled(1);
    await until(() => seen.length === 2);
    expect(seen.sort()).toEqual(['a', 'b']);
    await broker.waitForReady(`${name}.dead`, 1);
    expect(app.settlements).toHaveLength(1);
  });

  it('keep consuming when a subscription is refused', async () => {
    const name = unique('kept');
    let seen = 0;
    await broker.declare(`${name}.other`, { durable: false, autoDelete: true });
    @Injectable()
    class Handler {
      @RabbitSubscribe({ exchange: name, routingKey: 'a', queue: `${name}.a` })
      event(): void {
        seen += 1;
      }

      @Subscribe({ queue: `${name}.other` })
      refused(): void {}
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name, type: 'topic' }] },
      settle: { onRefused: 'continue' },
      wait: false,
    });
    expect(app.registry.list()[0]?.state).toBe('refused');
    await broker.publish(name, 'a', {});
    await until(() => seen === 1);
    expect(await broker.consumers(`${name}.a`)).toBe(1);
  });
});

describe('a queue of @Subscribe that a handler of golevelup consumes as well', () => {
  it.each(['@RabbitSubscribe', '@RabbitRPC'])('is refused at startup: %s', async (decorator) => {
    const queue = unique('shared');
    const Decorator = decorator === '@RabbitRPC' ? RabbitRPC : RabbitSubscribe;
    @Injectable()
    class Old {
      @Decorator({ queue })
      async handle(): Promise<void> {}
    }
    @Injectable()
    class Moved {
      @Subscribe({ queue })
      async handle(): Promise<void> {}
    }
    await expect(startApp({ providers: [Old, Moved] })).rejects.toThrow(
      `Moved.handle: queue "${queue}" is also consumed by Old.handle`,
    );
  });

  it('is found through the handlers of the connection, too', async () => {
    const queue = unique('shared');
    @Injectable()
    class Old {
      @RabbitSubscribe({ name: 'old' })
      async handle(): Promise<void> {}
    }
    @Injectable()
    class Moved {
      @Subscribe({ queue })
      async handle(): Promise<void> {}
    }
    const parts = { providers: [Old, Moved], rabbit: { handlers: { old: { queue } } } };
    await expect(startApp(parts)).rejects.toThrow('is also consumed by Old.handle');
  });
});
