import { Controller, Inject, Injectable, type Provider, Scope } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import type { AppParts, TestApp } from '../support/start-app';

describe('a provider with a subscription', async () => {
  const broker = await openBroker();

  async function runs(queue: string, parts: AppParts, seen: unknown[]): Promise<TestApp> {
    const app = await startApp(parts);
    await broker.send(queue, 'payload');
    await app.settled(1);
    expect(seen).toEqual(['payload']);
    expect(await broker.consumers(queue)).toBe(1);
    return app;
  }

  it('is called with its own dependencies, private fields and getters', async () => {
    const queue = unique('itself');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      readonly #log = seen;
      constructor(@Inject('store') private readonly store: { isOpen: boolean }) {}
      get isReady(): boolean {
        return this.store.isOpen;
      }
      @Subscribe({ queue })
      protected handle(payload: unknown): void {
        if (this.isReady) this.#log.push(payload);
      }
    }
    const store = { provide: 'store', useValue: { isOpen: true } };
    await runs(queue, { providers: [Handler, store] }, seen);
  });

  it('may have getters that throw: none is read to find handlers', async () => {
    const queue = unique('getters');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      get broken(): never {
        throw new Error('read');
      }
      @Subscribe({ queue })
      handle(payload: unknown): void {
        seen.push(payload);
      }
    }
    await runs(queue, { providers: [Handler] }, seen);
  });

  it.each<[what: string, provider: (type: new () => object) => Provider]>([
    ['a factory', (type) => ({ provide: 'token', useFactory: () => new type() })],
    [
      'an asynchronous factory',
      (type) => ({ provide: 'token', useFactory: async () => new type() }),
    ],
    ['a value', (type) => ({ provide: 'token', useValue: new type() })],
    ['a class under a token', (type) => ({ provide: 'token', useClass: type })],
    ['a proxy', (type) => ({ provide: 'token', useValue: new Proxy(new type(), {}) })],
  ])('may come from %s', async (_what, provider) => {
    const queue = unique('holder');
    const seen: unknown[] = [];
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(payload: unknown): void {
        seen.push(payload);
      }
    }
    const alias = { provide: 'alias', useExisting: 'token' };
    await runs(queue, { providers: [provider(Handler), alias] }, seen);
  });

  it('may be a controller', async () => {
    const queue = unique('controller');
    const seen: unknown[] = [];
    @Controller()
    class Handler {
      @Subscribe({ queue })
      handle(payload: unknown): void {
        seen.push(payload);
      }
    }
    await runs(queue, { providers: [], controllers: [Handler] }, seen);
  });

  it('of a lazily loaded module does not consume, and binds no queue', async () => {
    const queue = unique('lazy');
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(): void {}
    }
    class Lazy {}
    const app = await startApp({ providers: [] });
    await app.app
      .get(LazyModuleLoader)
      .load(() => ({ module: Lazy, providers: [Handler] }) as never);
    expect(app.registry.list()).toEqual([]);
    expect(await broker.ready(queue)).toBeUndefined();
  });

  it.each<[what: string, scope: Scope, dependsOnly: boolean, found: RegExp]>([
    ['request-scoped', Scope.REQUEST, false, /request-scoped, itself or by what/],
    ['transient', Scope.TRANSIENT, false, /transient/],
    ['request-scoped by a dependency', Scope.REQUEST, true, /request-scoped, itself or by what/],
  ])(
    'that is %s needs requestScope, or is a startup error',
    async (_what, scope, dependsOnly, found) => {
      @Injectable({ scope })
      class PerRequest {}
      @Injectable(dependsOnly ? {} : { scope })
      class Handler {
        constructor(@Inject(PerRequest) readonly dependency: PerRequest) {}
        @Subscribe({ queue: unique('scoped') })
        handle(): void {}
      }
      const starting = startApp({ providers: [PerRequest, Handler] });
      await expect(starting).rejects.toThrow(found);
      await expect(starting).rejects.toThrow(
        /^Handler\.handle: requestScope: expected true, since the provider is .*; found false$/,
      );
    },
  );
});

describe('decorators around @Subscribe', async () => {
  const broker = await openBroker();
  const calls: string[] = [];

  /** Replaces the function without copying its metadata. */
  function Trace(_target: object, _key: string, descriptor: PropertyDescriptor): void {
    const original = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]): unknown {
      calls.push('traced');
      return original.apply(this, args);
    };
  }

  /** Wraps every method of a class. */
  function TraceAll(type: new (...args: never[]) => object): void {
    for (const key of Object.getOwnPropertyNames(type.prototype)) {
      const descriptor = Object.getOwnPropertyDescriptor(type.prototype, key);
      if (key === 'constructor' || descriptor === undefined) continue;
      Trace(type.prototype, key, descriptor);
      Object.defineProperty(type.prototype, key, descriptor);
    }
  }

  it.each(['above', 'below', 'around the class'] as const)(
    'that replace the method %s',
    async (place) => {
      const queue = unique('wrapped');
      const none = (): void => undefined;
      @(place === 'around the class' ? TraceAll : none)
      @Injectable()
      class Handler {
        readonly #own = 'own';
        @(place === 'above' ? Trace : none)
        @Subscribe({ queue })
        @(place === 'below' ? Trace : none)
        handle(): void {
          calls.push(this.#own);
        }
      }
      calls.length = 0;
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await app.settled(1);
      expect(calls).toEqual(['traced', 'own']);
    },
  );
});

describe('inheritance', async () => {
  const broker = await openBroker();

  function classes(queue: string) {
    const seen: string[] = [];
    abstract class Base {
      @Subscribe({ queue })
      handle(): void {
        seen.push(`base of ${this.constructor.name}`);
      }
    }
    @Injectable()
    class A extends Base {}
    @Injectable()
    class B extends Base {}
    @Injectable()
    class Overriding extends Base {
      override handle(): void {
        seen.push('overriding');
      }
    }
    @Injectable()
    class Decorated extends Base {
      @Subscribe({ queue: `${queue}.own` })
      override handle(): void {
        seen.push('decorated');
      }
    }
    return { seen, Base, A, B, Overriding, Decorated };
  }

  it('two subclasses of one decorated method are reported as two consumers of one queue', async () => {
    const { A, B } = classes(unique('siblings'));
    await expect(startApp({ providers: [A, B] })).rejects.toThrow(
      /B\.handle: queue .* is already consumed by A\.handle/,
    );
  });

  it('a subclass inherits the subscription, also for an override without a decorator', async () => {
    for (const [name, expected] of [
      ['A', 'base of A'],
      ['Overriding', 'overriding'],
    ] as const) {
      const queue = unique('inherits');
      const { seen, Base, ...all } = classes(queue);
      const app = await startApp({ providers: [all[name]] });
      await broker.send(queue, {});
      await app.settled(1);
      expect(seen).toEqual([expected]);
      const status = app.registry.get(all[name], 'handle');
      expect(status.subscription.handler).toBe(`${name}.handle`);
      expect(app.registry.get(Base, 'handle')).toEqual(status);
      await app.close();
    }
  });

  it('an override with a decorator of its own has only that subscription', async () => {
    const queue = unique('redecorated');
    const { seen, Decorated } = classes(queue);
    const app = await startApp({ providers: [Decorated] });
    expect(app.registry.list()).toHaveLength(1);
    await broker.send(`${queue}.own`, {});
    await app.settled(1);
    expect(seen).toEqual(['decorated']);
    expect(await broker.ready(queue)).toBeUndefined();
  });
});
