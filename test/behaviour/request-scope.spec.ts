import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import {
  type ArgumentMetadata,
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  Scope,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  APP_PIPE,
  type ContextId,
  ContextIdFactory,
  type ContextIdStrategy,
  type HostComponentInfo,
  ModuleRef,
  REQUEST,
} from '@nestjs/core';
import { of, tap } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  ack,
  currentDelivery,
  type Delivery,
  drop,
  fixed,
  HandlerTimeoutError,
  type Outcome,
  Subscribe,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const broker = await openBroker();
const options = (queue: string): AcknowledgedOptions & { queue: string } => ({
  queue,
  requestScope: true,
});

async function send(queue: string, ...ids: readonly string[]): Promise<void> {
  for (const messageId of ids) await broker.send(queue, { messageId }, { messageId });
}

describe('the instances of a delivery', () => {
  it('are its own, are shared by all that it uses, and receive it as REQUEST', async () => {
    const queue = unique('own');
    const seen: unknown[] = [];
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Tenant {
      readonly number = ++made;
      constructor(@Inject(REQUEST) readonly delivery: Delivery) {}
    }
    @Injectable()
    class Repository {
      constructor(@Inject(Tenant) readonly tenant: Tenant) {}
    }
    @Injectable()
    class Handler {
      @Inject(REQUEST) readonly request!: Delivery;
      readonly #own = seen;
      constructor(
        @Inject(Tenant) private readonly tenant: Tenant,
        @Inject(Repository) private readonly repository: Repository,
      ) {}
      @Subscribe({ ...options(queue), prefetch: 1 })
      handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery): Outcome {
        const { tenant, repository } = this;
        const isSame = tenant === repository.tenant && tenant.delivery === delivery;
        this.#own.push([delivery.messageId, tenant.number, isSame, this.request === delivery]);
        return ack();
      }
    }
    const app = await startApp({ providers: [Tenant, Repository, Handler] });
    expect(made).toBe(0);
    await send(queue, 'a', 'b');
    const settlements = await app.settled(2);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'ack']);
    expect(seen).toEqual([
      ['a', 1, true, true],
      ['b', 2, true, true],
    ]);
  });

  it('are new for every attempt', async () => {
    const queue = unique('attempts');
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      #calls = 0;
      constructor(@Inject(REQUEST) private readonly delivery: Delivery) {}
      @Subscribe({
        ...options(queue),
        retry: { attempts: 2, backoff: fixed(0) },
        onError: 'retry',
      })
      handle(): void {
        this.#calls += 1;
        seen.push([this.#calls, this.delivery.attempt]);
        if (this.delivery.attempt === 1) throw new Error('first');
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a');
    await app.settled(2);
    expect(seen).toEqual([
      [1, 1],
      [1, 2],
    ]);
  });

  it('are apart while deliveries are handled at the same time', async () => {
    const queue = unique('concurrent');
    const seen: unknown[] = [];
    let inFlight = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      constructor(@Inject(REQUEST) private readonly delivery: Delivery) {}
      @Subscribe({ ...options(queue), prefetch: 10 })
      async handle(payload: { messageId: string }): Promise<void> {
        inFlight += 1;
        await until(() => inFlight === 10);
        seen.push(payload.messageId === this.delivery.messageId);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, ...'abcdefghij');
    await app.settled(10);
    expect(seen).toEqual(Array(10).fill(true));
  });

  it.each<[what: string, parts: (type: Type) => { providers: Provider[]; controllers?: Type[] }]>([
    ['a controller', (type) => ({ providers: [], controllers: [type] })],
    [
      'a class under a token and its alias',
      (type) => ({
        providers: [
          { provide: 'token', useClass: type },
          { provide: 'alias', useExisting: 'token' },
        ],
      }),
    ],
    [
      'an asynchronous factory under its class',
      (type) => ({
        providers: [
          {
            provide: type,
            scope: Scope.REQUEST,
            useFactory: async (delivery: Delivery) => new type(delivery),
            inject: [REQUEST],
          },
        ],
      }),
    ],
  ])('may come from %s', async (_what, parts) => {
    const queue = unique('from');
    const seen: unknown[] = [];
    @Controller({ scope: Scope.REQUEST })
    class Handler {
      constructor(@Inject(REQUEST) private readonly delivery: Delivery) {}
      @Subscribe(options(queue))
      handle(@RabbitPayload('messageId') id: string): void {
        seen.push([id, this.delivery.messageId]);
      }
    }
    const app = await startApp(parts(Handler));
    await send(queue, 'a', 'b');
    await app.settled(2);
    expect(seen.sort()).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
  });

  it('are those of a transient class, one for each delivery', async () => {
    const queue = unique('transient');
    const seen: unknown[] = [];
    let made = 0;
    @Injectable({ scope: Scope.TRANSIENT })
    class Handler {
      readonly #number = ++made;
      @Subscribe({ ...options(queue), prefetch: 1 })
      handle(): void {
        seen.push(this.#number);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a', 'b');
    await app.settled(2);
    expect(seen).toEqual([1, 2]);
  });

  it('leave a singleton what it is', async () => {
    const queue = unique('singleton');
    const seen = new Set<unknown>();
    @Injectable()
    class Handler {
      @Subscribe(options(queue))
      handle(): void {
        seen.add(this);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a', 'b');
    await app.settled(2);
    expect([...seen]).toEqual([app.app.get(Handler)]);
  });

  it('are found by the delivery, as those of a request', async () => {
    const queue = unique('by-request');
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Unit {}
    @Injectable()
    class Handler {
      constructor(
        @Inject(Unit) private readonly unit: Unit,
        @Inject(ModuleRef) private readonly modules: ModuleRef,
      ) {}
      @Subscribe(options(queue))
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        const id = ContextIdFactory.getByRequest(delivery);
        seen.push((await this.modules.resolve(Unit, id)) === this.unit);
      }
    }
    const app = await startApp({ providers: [Unit, Handler] });
    await send(queue, 'a');
    await app.settled(1);
    expect(seen).toEqual([true]);
  });

  it('are constructed with the current delivery', async () => {
    const queue = unique('current');
    const seen: unknown[] = [];
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      constructor() {
        seen.push(currentDelivery()?.messageId);
      }
      @Subscribe(options(queue))
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler], settle: { context: true } });
    await send(queue, 'a');
    await app.settled(1);
    expect(seen).toEqual(['a']);
  });
});

describe('request-scoped enhancers', () => {
  /** A guard, a pipe, an interceptor and a filter that note the message of their request. */
  function enhancersOf(seen: string[]) {
    @Injectable({ scope: Scope.REQUEST })
    class Noting {
      readonly #seen = seen;
      constructor(@Inject(REQUEST) private readonly delivery: Delivery) {}
      note(what: string): void {
        this.#seen.push(`${what} ${this.delivery.messageId}`);
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Guard extends Noting implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        this.note(`guard of ${context.getClass().name}.${context.getHandler().name}`);
        return true;
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Pipe extends Noting implements PipeTransform {
      transform(value: unknown, _metadata: ArgumentMetadata): unknown {
        this.note('pipe');
        return { ...Object(value), isPiped: true };
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Interceptor extends Noting implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler) {
        this.note('before');
        return next.handle().pipe(tap({ complete: () => this.note('after') }));
      }
    }
    @Catch()
    @Injectable({ scope: Scope.REQUEST })
    class Filter extends Noting implements ExceptionFilter {
      catch(error: Error, _host: ArgumentsHost): Outcome {
        this.note(`filter of ${error.message}`);
        return drop();
      }
    }
    return { Guard, Pipe, Interceptor, Filter };
  }

  const expected = [
    'guard of Handler.handle a',
    'before a',
    'pipe a',
    'handled a true',
    'after a',
    'guard of Handler.handle b',
    'before b',
    'pipe b',
    'handled b true',
    'filter of b b',
  ];

  it('of the class and the method run with the instances of the delivery', async () => {
    const queue = unique('local');
    const seen: string[] = [];
    const { Guard, Pipe, Interceptor, Filter } = enhancersOf(seen);
    @UseGuards(Guard)
    @UseFilters(Filter)
    @Injectable()
    class Handler {
      @UsePipes(Pipe)
      @UseInterceptors(Interceptor)
      @Subscribe({ ...options(queue), prefetch: 1 })
      handle(payload: { messageId: string; isPiped?: boolean }): void {
        seen.push(`handled ${payload.messageId} ${payload.isPiped}`);
        if (payload.messageId === 'b') throw new Error('b');
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a', 'b');
    const settlements = await app.settled(2);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'reject']);
    expect(seen).toEqual(expected);
  });

  it.each(['a singleton', 'a request-scoped provider'])(
    'of the application run around %s',
    async (what) => {
      const queue = unique('global');
      const seen: string[] = [];
      const { Guard, Pipe, Interceptor, Filter } = enhancersOf(seen);
      @Injectable({ scope: what === 'a singleton' ? Scope.DEFAULT : Scope.REQUEST })
      class Handler {
        @Subscribe({ ...options(queue), prefetch: 1 })
        handle(payload: { messageId: string; isPiped?: boolean }): void {
          seen.push(`handled ${payload.messageId} ${payload.isPiped}`);
          if (payload.messageId === 'b') throw new Error('b');
        }
      }
      const scope = Scope.REQUEST;
      const app = await startApp({
        providers: [
          Handler,
          { provide: APP_GUARD, useClass: Guard, scope },
          { provide: APP_PIPE, useClass: Pipe, scope },
          { provide: APP_INTERCEPTOR, useClass: Interceptor, scope },
          { provide: APP_FILTER, useClass: Filter, scope },
        ],
      });
      await send(queue, 'a', 'b');
      const settlements = await app.settled(2);
      expect(settlements.map(({ decision }) => decision.kind)).toEqual(['ack', 'reject']);
      expect(seen).toEqual(expected);
      expect(app.log.matching(/request-scoped global enhancers/, ['warn'])).toEqual([]);
    },
  );

  it('of a single parameter run with the instances of the delivery', async () => {
    const queue = unique('parameter');
    const seen: string[] = [];
    const { Pipe } = enhancersOf(seen);
    @Injectable()
    class Handler {
      @Subscribe(options(queue))
      handle(@RabbitPayload(Pipe) payload: { messageId: string; isPiped?: boolean }): void {
        seen.push(`handled ${payload.messageId} ${payload.isPiped}`);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a');
    await app.settled(1);
    expect(seen).toEqual(['pipe a', 'handled a true']);
  });

  it('deny a message before anything of the handler runs', async () => {
    const queue = unique('denies');
    let made = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Tenants implements CanActivate {
      constructor(@Inject(REQUEST) private readonly delivery: Delivery) {}
      canActivate(): boolean {
        return this.delivery.messageId !== 'denied';
      }
    }
    @Injectable()
    class Handler {
      @UseGuards(Tenants)
      @Subscribe({ ...options(queue), prefetch: 1 })
      handle(): void {
        made += 1;
      }
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'denied', 'a');
    const settlements = await app.settled(2);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(['reject', 'ack']);
    expect(made).toBe(1);
  });
});

describe('what a constructor or a factory throws', () => {
  const state = { isBroken: true };
  const failing = (): void => {
    if (state.isBroken) throw new RangeError('no tenant');
  };

  it.each<[what: string, provider: Provider]>([
    [
      'a constructor',
      {
        provide: 'dependency',
        scope: Scope.REQUEST,
        useClass: class {
          constructor() {
            failing();
          }
        },
      },
    ],
    [
      'a factory',
      { provide: 'dependency', scope: Scope.REQUEST, useFactory: async () => failing() },
    ],
  ])('is an error of the handler: %s', async (_what, provider) => {
    const queue = unique('throws');
    const errors: unknown[] = [];
    let handled = 0;
    @Injectable()
    class Handler {
      constructor(@Inject('dependency') readonly dependency: unknown) {}
      @Subscribe({
        ...options(queue),
        prefetch: 1,
        retry: { attempts: 2, backoff: fixed(0) },
        deadLetter: `${queue}.dead`,
        onError: (error) => {
          errors.push(error);
          return 'retry';
        },
      })
      handle(): void {
        handled += 1;
      }
    }
    state.isBroken = true;
    const app = await startApp({ providers: [provider, Handler] });
    await send(queue, 'a');
    await app.settled(2);
    const kinds = app.settlements.map(({ decision }) => decision.kind);
    expect(kinds.sort()).toEqual(['deadLetter', 'republish']);
    expect(errors).toEqual([expect.any(RangeError), expect.any(RangeError)]);
    const [line] = app.log.matching(/RangeError: no tenant/, ['error']);
    expect(line).toMatch(/Handler\.handle/);
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers).toMatchObject({
      'x-settle-reason': 'attempts',
      'x-settle-error-name': 'RangeError',
      'x-settle-error-message': 'no tenant',
    });
    state.isBroken = false;
    await send(queue, 'b');
    await app.settled(3);
    expect(handled).toBe(1);
    expect(app.failed).toEqual([]);
  });

  it('is a bug if it is a TypeError', async () => {
    const queue = unique('bug');
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      constructor() {
        (undefined as never as () => void)();
      }
      @Subscribe({ ...options(queue), onPanic: 'drop' })
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a');
    const [settlement] = await app.settled(1);
    expect(settlement?.decision).toMatchObject({ kind: 'reject' });
    expect(app.log.matching(/TypeError/)).not.toEqual([]);
  });

  it('is an outcome if an outcome is thrown', async () => {
    const queue = unique('outcome');
    @Injectable({ scope: Scope.REQUEST })
    class Handler {
      constructor() {
        throw ack();
      }
      @Subscribe(options(queue))
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a');
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
  });

  it('counts into the timeout, after which the method is not called', async () => {
    const queue = unique('slow');
    const constructed = new Gate();
    let handled = 0;
    const slow = {
      provide: 'slow',
      scope: Scope.REQUEST,
      useFactory: () => until(() => app.settlements.length === 1),
    };
    @Injectable()
    class Handler {
      constructor(@Inject('slow') readonly dependency: unknown) {
        constructed.open();
      }
      @Subscribe({ ...options(queue), timeout: 30 })
      handle(): void {
        handled += 1;
      }
    }
    const app = await startApp({ providers: [slow, Handler] });
    await send(queue, 'a');
    const [settlement] = await app.settled(1);
    expect(settlement?.error).toBeInstanceOf(HandlerTimeoutError);
    await constructed.promise;
    await new Promise(setImmediate);
    expect(handled).toBe(0);
  });
});

describe('a durable provider', () => {
  it('is shared as the strategy of the application says, and sees its payload', async () => {
    const queue = unique('durable');
    const seen: unknown[] = [];
    const tenants = new Map<unknown, ContextId>();
    ContextIdFactory.apply({
      attach(contextId: ContextId, { headers }: Delivery) {
        const { tenant } = headers;
        const id = tenants.get(tenant) ?? ContextIdFactory.create();
        tenants.set(tenant, id);
        return {
          resolve: ({ isTreeDurable }: HostComponentInfo) => (isTreeDurable ? id : contextId),
          payload: { tenant },
        };
      },
    } as ContextIdStrategy);
    onTestFinished(() => ContextIdFactory.apply(undefined as never));
    let made = 0;
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Handler {
      readonly #number = ++made;
      constructor(@Inject(REQUEST) private readonly request: { tenant: string }) {}
      @Subscribe({ ...options(queue), prefetch: 1 })
      handle(): void {
        seen.push([this.#number, this.request]);
      }
    }
    const app = await startApp({ providers: [Handler] });
    for (const tenant of ['x', 'y', 'x']) await broker.send(queue, {}, { headers: { tenant } });
    await app.settled(3);
    expect(seen).toEqual([
      [1, { tenant: 'x' }],
      [2, { tenant: 'y' }],
      [1, { tenant: 'x' }],
    ]);
  });

  it('is a failure of the message if the strategy throws', async () => {
    const queue = unique('strategy');
    ContextIdFactory.apply({
      attach() {
        throw new Error('no tenant');
      },
    });
    onTestFinished(() => ContextIdFactory.apply(undefined as never));
    @Injectable({ scope: Scope.REQUEST, durable: true })
    class Handler {
      @Subscribe(options(queue))
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await send(queue, 'a');
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('reject');
    expect(String(settlement?.error)).toBe('Error: no tenant');
  });
});

describe('the memory', () => {
  it.each(['directly', 'through Nest, with parameters and enhancers'])(
    'of the instances is free after the delivery: called %s',
    async (way) => {
      const queue = unique('memory');
      const none: MethodDecorator & ParameterDecorator = () => undefined;
      const isThroughNest = way !== 'directly';
      let made = 0;
      let freed = 0;
      const registry = new FinalizationRegistry(() => {
        freed += 1;
      });
      const count = (instance: object): void => {
        made += 1;
        registry.register(instance, undefined);
      };
      @Injectable({ scope: Scope.REQUEST })
      class Unit implements CanActivate, ExceptionFilter {
        constructor(@Inject(REQUEST) readonly delivery: Delivery) {
          count(this);
        }
        canActivate(): boolean {
          return true;
        }
        catch(error: Error): never {
          throw error;
        }
      }
      @Injectable()
      class Handler {
        constructor(@Inject(Unit) readonly unit: Unit) {
          count(this);
        }
        @(isThroughNest ? UseGuards(Unit) : none)
        @(isThroughNest ? UseFilters(Unit) : none)
        @Subscribe({ ...options(queue), onError: 'drop' })
        handle(@(isThroughNest ? RabbitPayload() : none) payload: { messageId: string }) {
          if (payload.messageId === 'fails') throw new Error('x');
          return payload.messageId === 'stream' ? of(ack()) : ack();
        }
      }
      const app = await startApp({ providers: [Unit, Handler] });
      const kinds = ['a', 'fails', 'stream'];
      await send(queue, ...Array.from({ length: 30 }, (_, index) => kinds[index % 3] ?? ''));
      await app.settled(30);
      // Those who hold deliveries do not hold their instances.
      const deliveries = app.settlements.map(({ delivery }) => delivery);
      expect(made).toBeGreaterThanOrEqual(60);
      await until(
        () => {
          collect();
          return freed === made;
        },
        { timeoutMs: 10_000, what: `all of ${made} instances to be freed` },
      );
      expect(deliveries).toHaveLength(30);
    },
  );
});

describe('at startup', () => {
  it('requestScope beside batch is refused', async () => {
    @Injectable()
    class Handler {
      @Subscribe({ ...options(unique('batch')), batch: { size: 2 } })
      handle(): void {}
    }
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      /^Handler\.handle: requestScope: expected false beside batch; found true$/,
    );
  });
});
