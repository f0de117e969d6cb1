import {
  type CanActivate,
  Controller,
  Injectable,
  Scope,
  UseFilters,
  UseGuards,
} from '@nestjs/common';
import { BaseExceptionFilter } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { Delivery, getSubscriptionToken, SettleStartupError, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

describe('a startup error', async () => {
  const broker = await openBroker();

  it('lists all faults, one line each, with class, method, expected and found', async () => {
    const queue = unique('faults');
    await broker.declare(queue);
    class Guard implements CanActivate {
      canActivate(): boolean {
        return true;
      }
    }
    // The compiler would refuse these options.
    const invalid = {
      queue,
      prefetch: 0,
      retry: { attempts: 0 },
      noAck: true,
      deadLetter: 'dead',
    } as never;
    @Injectable()
    class Billing {
      @Subscribe(invalid)
      charge(): void {}

      @Subscribe({ queue })
      refund(): void {}

      @Subscribe({ queue: `${queue}.old`, errorHandler: () => undefined } as never)
      old(): void {}

      @Subscribe({ queue: process.env['NO_SUCH_VARIABLE'] as string })
      open(): void {}

      @Subscribe({ queue: `${queue}.keys`, exchange: 'topic' })
      keys(): void {}

      @Subscribe({ queue: `${queue}.parameters` })
      parameters(_payload: string, _more: string, @Delivery() _delivery: Delivery): void {}

      @Subscribe({
        queue: `${queue}.invalid`,
        onInvalidPayload: 'retry',
        timeout: 'soon' as never,
      })
      invalid(): void {}
    }
    @Controller()
    class Orders {
      @UseGuards(Guard)
      @UseFilters(new BaseExceptionFilter())
      @Subscribe({ queue: `${queue}.orders` })
      placed(): void {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      @Subscribe({ queue: `${queue}.request` })
      handle(): void {}
    }
    const error: unknown = await startApp({
      providers: [Billing, PerRequest],
      controllers: [Orders],
      rabbit: { exchanges: [{ name: 'topic', type: 'topic', options: { autoDelete: true } }] },
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettleStartupError);
    const lines = (error as SettleStartupError).errors.map(({ message }: Error) => message);
    const expected = [
      /^Billing\.charge: prefetch: expected a whole number .*; found 0$/,
      /^Billing\.charge: retry\.attempts: expected .*; found 0$/,
      /^Billing\.charge: retry: expected no such option together with noAck.*; found \{ attempts: 0 \}$/,
      /^Billing\.charge: deadLetter: expected no such option together with noAck.*; found 'dead'$/,
      /^Billing\.refund: queue ".*" is already consumed by Billing\.charge; /,
      /^Billing\.old: errorHandler: not an option of @Subscribe; use instead: onError/,
      /^Billing\.open: queue: expected the name of a queue.*; found undefined$/,
      /^Billing\.keys: routingKey: expected a key, since exchange "topic".*; found none/,
      /^Billing\.parameters: parameter 1: expected a decorator.*; found none/,
      /^Billing\.invalid: onInvalidPayload: expected .*; found 'retry'$/,
      /^Billing\.invalid: timeout: expected .*; found 'soon'$/,
      /^Orders\.placed: guards: expected instances; found the class Guard/,
      /^PerRequest\.handle: requestScope: expected true, since the provider is request-scoped.*; found false$/,
    ];
    for (const pattern of expected) expect(lines).toContainEqual(expect.stringMatching(pattern));
    expect(lines).toHaveLength(expected.length);
    for (const line of lines) expect((error as Error).message).toContain(line);
    expect(await broker.consumers(queue)).toBe(0);
    expect(await broker.ready(`${queue}.orders`)).toBeUndefined();
  });

  it('also rejects started, without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', note);
    const Handler = handlerOf({ queue: 'q', prefetch: -1 }, () => undefined);
    const starting = startApp({ providers: [Handler] });
    await expect(starting).rejects.toThrow(/Handler\.handle: prefetch/);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
  });

  it('does not concern classes that the application does not use', async () => {
    const queue = unique('unused');
    handlerOf({ queue, prefetch: 0 }, () => undefined);
    const Used = handlerOf({ queue }, () => undefined);
    const app = await startApp({ providers: [Used] });
    expect(app.registry.list().map(({ state }) => state)).toEqual(['consuming']);
    expect(getSubscriptionToken(Used, 'handle')).toMatch(/^Subscription:Handler/);
  });

  it.each<[what: string, options: object, pattern: RegExp]>([
    [
      'errorBehavior',
      { errorBehavior: 'REQUEUE' },
      /errorBehavior: .*use instead: onError: 'drop'/,
    ],
    [
      'batchOptions',
      { batchOptions: { size: 10 } },
      /batchOptions: .*use instead: batch: { size, wait }/,
    ],
    ['an unknown option', { retires: { attempts: 3 } }, /retires: no such option/],
    [
      "a dead-letter exchange together with deadLetter.by: 'broker'",
      { deadLetter: { queue: 'd', by: 'broker' }, queueOptions: { deadLetterExchange: 'x' } },
      /queueOptions: expected no dead-letter exchange beside .*; found 'x'/,
    ],
    ['a queue that is undefined', { queue: undefined }, /queue: expected the name of a queue/],
    [
      'a broker delay on a classic queue',
      { retry: { attempts: 3, by: 'broker' } },
      /retry\.by: expected 'client', or queueType: 'quorum'/,
    ],
    [
      'a transient quorum queue',
      { queueType: 'quorum', queueOptions: { durable: false } },
      /queueType: expected 'classic'/,
    ],
  ])('is caused by %s', async (_what, options, pattern) => {
    const Handler = handlerOf({ queue: unique('refused'), ...options } as never, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(pattern);
  });

  it('names both methods that use one consumer tag', async () => {
    const name = unique('tags');
    const queueOptions = { consumerOptions: { consumerTag: name } };
    @Injectable()
    class Handler {
      @Subscribe({ queue: `${name}.a`, queueOptions })
      one(): void {}

      @Subscribe({ queue: `${name}.b`, queueOptions })
      two(): void {}
    }
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      /Handler\.two: .*consumerTag: .*already used by Handler\.one/,
    );
  });
});
