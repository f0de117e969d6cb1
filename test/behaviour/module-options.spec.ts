import { RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { type DynamicModule, Injectable, Module } from '@nestjs/common';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type DeliveryInterceptor,
  drop,
  SettleModule,
  type SettleModuleOptions,
  type SettleOptionsFactory,
  SettleStartupError,
  Subscribe,
  SubscriptionRegistry,
} from '../../lib';
import { createApp, openBroker, startApp, unique, url } from '../support/environment';
import { handlerOf } from '../support/handlers';
import { LogRecorder } from '../support/log-recorder';

describe('SettleModule', async () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  const options: SettleModuleOptions = { defaults: { prefetch: 7 }, logger: new LogRecorder() };

  @Injectable()
  class Options implements SettleOptionsFactory {
    createSettleOptions(): SettleModuleOptions {
      return options;
    }
  }
  @Module({
    providers: [Options, { provide: 'prefetch', useValue: 7 }],
    exports: [Options, 'prefetch'],
  })
  class OptionsModule {}

  async function start(...settle: DynamicModule[]) {
    const queue = unique('module');
    const Handler = handlerOf({ queue }, () => undefined);
    @Module({
      imports: [RabbitMQModule.forRoot({ uri: url }), ...settle],
      providers: [Handler],
    })
    class AppModule {}
    const app = await createApp(AppModule);
    closing.push(() => app.close());
    await app.init();
    return app.get(SubscriptionRegistry).get(Handler, 'handle').subscription.prefetch;
  }

  it('works without options', async () => {
    expect(await start(SettleModule.forRoot({ logger: new LogRecorder() }))).toBeUndefined();
  });

  it.each<[how: string, module: () => DynamicModule]>([
    ['forRoot', () => SettleModule.forRoot(options)],
    ['useFactory', () => SettleModule.forRootAsync({ useFactory: async () => options })],
    [
      'useFactory with injected providers',
      () =>
        SettleModule.forRootAsync({
          imports: [OptionsModule],
          inject: ['prefetch'],
          useFactory: (prefetch: number) => ({ ...options, defaults: { prefetch } }),
        }),
    ],
    ['useClass', () => SettleModule.forRootAsync({ useClass: Options })],
    [
      'useExisting',
      () => SettleModule.forRootAsync({ imports: [OptionsModule], useExisting: Options }),
    ],
  ])('takes its options by %s', async (_how, module) => {
    expect(await start(module())).toBe(7);
  });

  it.each<[how: string, second: DynamicModule]>([
    ['with the same options', SettleModule.forRoot(options)],
    ['with other options', SettleModule.forRoot({ logger: new LogRecorder() })],
    ['asynchronously', SettleModule.forRootAsync({ useFactory: () => options })],
  ])('is refused if imported twice: %s', async (_how, second) => {
    @Module({ imports: [second] })
    class Feature {}
    const starting = start(SettleModule.forRoot(options), { module: Feature });
    await expect(starting).rejects.toThrow(SettleStartupError);
    await expect(starting).rejects.toThrow(/forRoot or forRootAsync once in an application/);
  });

  it('reports all invalid options at once', async () => {
    const wrong = {
      shutdownTimeout: '10 minutes',
      republishTimeout: -1,
      onRefused: 'ignore',
      interceptors: ['no function'],
      isPanic: true,
      onFailFast: 'exit',
      defaults: { prefetch: 0 },
      prefetch: 5,
    };
    const starting = start(SettleModule.forRoot(wrong as never));
    for (const option of Object.keys(wrong).filter((key) => key !== 'defaults')) {
      await expect(starting).rejects.toThrow(new RegExp(`SettleModule: ${option}: `));
    }
    await expect(starting).rejects.toThrow(/Handler\.handle: prefetch: .*found 0/);
  });
});

describe('the defaults of the module', async () => {
  const broker = await openBroker();

  it('apply to every subscription that does not set the option', async () => {
    const name = unique('defaults');
    const Default = handlerOf({ queue: `${name}.a` }, () => drop());
    const Own = handlerOf(
      { queue: `${name}.b`, prefetch: 3, retry: { attempts: 2 }, deadLetter: `${name}.own` },
      () => drop(),
    );
    const Quiet = handlerOf({ queue: `${name}.c`, noAck: true }, () => undefined);
    const None = handlerOf({ queue: `${name}.none` }, () => drop());
    const app = await startApp({
      providers: [
        Default,
        ...[Own, Quiet, None].map((useClass, provide) => ({ provide: `${provide}`, useClass })),
      ],
      settle: {
        defaults: {
          queueType: 'quorum',
          prefetch: 50,
          timeout: '5s',
          retry: { attempts: 5 },
          onError: 'retry',
          onPanic: 'failFastOnce',
          onInvalidPayload: 'skip',
          deadLetter: (queue) => (queue.endsWith('none') ? undefined : `${queue}.dead`),
        },
      },
    });
    const [first, own, quiet, none] = app.registry.list().map(({ subscription }) => subscription);
    expect(first).toMatchObject({
      queueType: 'quorum',
      prefetch: 50,
      timeout: 5_000,
      retry: { attempts: 5, by: 'client' },
      onError: { rules: [], otherwise: 'retry' },
      onPanic: 'failFastOnce',
      onInvalidPayload: 'skip',
      deadLetter: { queue: `${name}.a.dead` },
    });
    expect(own).toMatchObject({
      prefetch: 3,
      retry: { attempts: 2 },
      deadLetter: { queue: `${name}.own` },
    });
    expect(quiet).toMatchObject({ noAck: true, retry: undefined, deadLetter: undefined });
    expect(none?.deadLetter).toBeUndefined();
    await broker.send(`${name}.a`, {});
    await broker.send(`${name}.b`, {});
    await broker.waitForReady(`${name}.a.dead`, 1);
    await broker.waitForReady(`${name}.own`, 1);
  });

  it('set no dead-letter queue for server-named queues', async () => {
    const exchange = unique('server-named');
    @Injectable()
    class Handler {
      @Subscribe({ exchange, routingKey: 'a' })
      handle(): void {}
    }
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: exchange, type: 'topic' }] },
      settle: { defaults: { queueType: 'quorum', deadLetter: (queue) => `${queue}.dead` } },
    });
    const { subscription } = app.registry.get(Handler, 'handle');
    expect(subscription).toMatchObject({ queueType: 'classic', deadLetter: undefined });
  });
});

describe("the module's interceptors", async () => {
  const broker = await openBroker();

  async function run(interceptors: DeliveryInterceptor[], body: () => unknown = () => undefined) {
    const queue = unique('interceptors');
    const Handler = handlerOf({ queue, onError: 'skip', onPanic: 'drop' }, body);
    const app = await startApp({ providers: [Handler], settle: { interceptors } });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    return { app, settlement: settlement! };
  }

  it('run in order around the handler, and receive outcomes only', async () => {
    const steps: string[] = [];
    const named =
      (name: string): DeliveryInterceptor =>
      async (delivery, next) => {
        steps.push(`${name} before ${delivery.attempt}`);
        const outcome = await next();
        steps.push(`${name} ${outcome.kind}`);
        return outcome;
      };
    await run([named('outer'), named('inner')], () => {
      steps.push('handler');
      throw new TypeError('a panic');
    });
    expect(steps).toEqual([
      'outer before 1',
      'inner before 1',
      'handler',
      'inner drop',
      'outer drop',
    ]);
  });

  it('may skip the handler, or return another outcome', async () => {
    let ran = false;
    const { settlement } = await run([async () => drop('full')], () => {
      ran = true;
    });
    expect(settlement.outcome.reason).toBe('full');
    expect(ran).toBe(false);
  });

  it.each<[what: string, interceptor: DeliveryInterceptor, error: RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no cache');
      },
      /no cache/,
    ],
    ['rejects', () => Promise.reject(new Error('refused')), /refused/],
  ])('that %s causes an error for onError', async (_what, interceptor, error) => {
    const { app, settlement } = await run([interceptor]);
    expect(settlement.decision.kind).toBe('ack');
    expect(settlement.error).toHaveProperty('message', expect.stringMatching(error));
    expect(app.failed).toEqual([]);
  });

  it.each<[what: string, interceptor: DeliveryInterceptor, error: RegExp]>([
    ['throws a TypeError', () => Promise.reject(new TypeError('a bug')), /a bug/],
    ['resolves with no outcome', async () => ({ ok: true }) as never, /not an outcome; expected/],
    ['returns nothing', () => undefined as never, /not an outcome/],
    ['calls next twice', (_delivery, next) => next().then(next), /called next\(\) twice/],
  ])('that %s causes a panic for onPanic', async (_what, interceptor, error) => {
    const { settlement } = await run([interceptor]);
    expect(settlement.decision.kind).toBe('reject');
    expect(settlement.error).toHaveProperty('message', expect.stringMatching(error));
  });
});
