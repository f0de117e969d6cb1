import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import { Injectable, type Provider } from '@nestjs/common';
import type { TestingModuleBuilder } from '@nestjs/testing';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Delivery,
  getSubscriptionToken,
  InjectSubscription,
  retry,
  SettleModule,
  Subscribe,
  type SubscriptionMetadata,
  SubscriptionRegistry,
} from '../../lib';
import { openBroker, testingModule, unique, url } from '../support/environment';
import { LogRecorder } from '../support/log-recorder';

describe('the metadata of a subscription', async () => {
  const broker = await openBroker();
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function boot(
    providers: Provider[],
    override: (builder: TestingModuleBuilder) => TestingModuleBuilder = (builder) => builder,
    rabbit: Partial<RabbitMQConfig> = {},
  ) {
    const builder = testingModule({
      imports: [
        RabbitMQModule.forRoot({ uri: url, ...rabbit }),
        SettleModule.forRoot({ logger: new LogRecorder(), defaults: { prefetch: 9 } }),
      ],
      providers,
    });
    const module = await override(builder).setLogger(new LogRecorder()).compile();
    const app = module.createNestApplication();
    closing.push(() => app.close());
    await app.init();
    await app.get(SubscriptionRegistry).started;
    return app;
  }

  /** A handler that always retries, and a service that injects its metadata. */
  function parts(queueType: 'classic' | 'quorum' = 'classic') {
    const queue = unique('tokens');
    const seen: number[] = [];
    @Injectable()
    class Billing {
      @Subscribe({ queue, queueType, retry: { attempts: 5 }, deadLetter: `${queue}.dead` })
      charge(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        seen.push(delivery.attempt);
        return retry();
      }
    }
    @Injectable()
    class Reader {
      @InjectSubscription(Billing, 'charge') readonly property!: SubscriptionMetadata;
      constructor(
        @InjectSubscription(Billing, 'charge') readonly own: SubscriptionMetadata,
        @InjectSubscription(Billing, 'charge', queue) readonly named: SubscriptionMetadata,
      ) {}
    }
    return { queue, seen, Billing, Reader };
  }

  it('can be injected and found by its token, with the defaults of the module', async () => {
    const { queue, Billing, Reader } = parts();
    const app = await boot([Billing, Reader]);
    const reader = app.get(Reader);
    const expected = { handler: 'Billing.charge', queue, prefetch: 9, retry: { attempts: 5 } };
    expect(reader.own).toMatchObject(expected);
    expect(reader.named).toMatchObject(expected);
    expect(reader.property).toMatchObject(expected);
    expect(app.get(getSubscriptionToken(Billing, 'charge'))).toMatchObject(expected);
    const { subscription } = app.get(SubscriptionRegistry).get(Billing, 'charge');
    expect(reader.own).toBe(subscription);
    expect(Object.isFrozen(subscription)).toBe(true);
  });

  it.each(['classic', 'quorum'] as const)(
    'can be overridden by a test, for the consumer and for injected metadata (%s)',
    async (queueType) => {
      const { queue, seen, Billing, Reader } = parts(queueType);
      const app = await boot([Billing, Reader], (builder) =>
        builder
          .overrideProvider(getSubscriptionToken(Billing, 'charge'))
          .useValue({ retry: { attempts: 1 } }),
      );
      const { own, named, property } = app.get(Reader);
      for (const subscription of [own, named, property]) {
        expect(subscription).toMatchObject({ queue, retry: { attempts: 1 }, prefetch: 9 });
      }
      await broker.send(queue, {});
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.properties.headers?.['x-settle-reason']).toBe('attempts');
      expect(seen).toEqual([1]);
    },
  );

  it('can be overridden by name, also where it is injected by name', async () => {
    const { queue, Billing, Reader } = parts();
    const app = await boot([Billing, Reader], (builder) =>
      builder
        .overrideProvider(getSubscriptionToken(Billing, 'charge', queue))
        .useValue({ prefetch: 2, timeout: '3s' }),
    );
    expect(app.get(Reader).named).toMatchObject({ prefetch: 2, timeout: 3_000 });
    expect(app.get(Reader).own).toBe(app.get(Reader).named);
    const { subscription } = app.get(SubscriptionRegistry).get(Billing, 'charge');
    expect(subscription).toMatchObject({ prefetch: 2, timeout: 3_000, retry: { attempts: 5 } });
  });

  it('moves the consumer if the queue is overridden', async () => {
    const { queue, seen, Billing, Reader } = parts();
    const other = unique('other');
    const app = await boot([Billing, Reader], (builder) =>
      builder
        .overrideProvider(getSubscriptionToken(Billing, 'charge'))
        .useValue({ queue: other, retry: { attempts: 1 }, deadLetter: `${queue}.dead` }),
    );
    expect(app.get(Reader).own.queue).toBe(other);
    await broker.send(other, {});
    await broker.take(`${queue}.dead`);
    expect(seen).toEqual([1]);
    expect(await broker.ready(queue)).toBeUndefined();
  });

  it('causes a startup error if overridden with invalid options', async () => {
    const { Billing } = parts();
    const starting = boot([Billing], (builder) =>
      builder
        .overrideProvider(getSubscriptionToken(Billing, 'charge'))
        .useValue({ retry: { attempts: 0 } }),
    );
    await expect(starting).rejects.toThrow(/Billing\.charge: retry\.attempts: .*found 0/);
  });

  it('is identified by name if a method has two subscriptions', async () => {
    const [first, second] = [unique('first'), unique('second')];
    const seen: string[] = [];
    @Injectable()
    class Twice {
      @Subscribe({ queue: first, prefetch: 1 })
      @Subscribe({ queue: second, prefetch: 2 })
      handle(_payload: unknown, _message: unknown, _headers: unknown, { queue }: Delivery): void {
        seen.push(queue);
      }
    }
    @Injectable()
    class Reader {
      constructor(
        @InjectSubscription(Twice, 'handle', first) readonly one: SubscriptionMetadata,
        @InjectSubscription(Twice, 'handle', second) readonly two: SubscriptionMetadata,
      ) {}
    }
    const app = await boot([Twice, Reader], (builder) =>
      builder
        .overrideProvider(getSubscriptionToken(Twice, 'handle', second))
        .useValue({ prefetch: 20 }),
    );
    expect(app.get(Reader).one.prefetch).toBe(1);
    expect(app.get(Reader).two.prefetch).toBe(20);
    const registry = app.get(SubscriptionRegistry);
    expect(registry.get(Twice, 'handle', first).subscription.prefetch).toBe(1);
    expect(registry.get(Twice, 'handle', second).subscription.prefetch).toBe(20);
    expect(() => registry.get(Twice, 'handle')).toThrow(
      new RegExp(
        `Twice\\.handle: expected the name of one of its subscriptions, "${first}", "${second}"`,
      ),
    );
    expect(() => registry.get(Twice, 'handle', 'other')).toThrow(/named "other"; found none/);
    const statuses = registry.list();
    expect(statuses.map(({ state }) => state)).toEqual(['consuming', 'consuming']);
  });

  it('includes the options that golevelup has for its name, which a test can override', async () => {
    const { Billing } = parts();
    const queue = unique('by-name');
    @Injectable()
    class Named {
      @Subscribe({ name: 'orders' })
      handle(): void {}
    }
    const handlers = { orders: { queue: unique('of-the-connection'), allowNonJsonMessages: true } };
    const app = await boot(
      [Named, Billing],
      (builder) =>
        builder
          .overrideProvider(getSubscriptionToken(Named, 'handle'))
          .useValue({ prefetch: 4, queue }),
      { handlers },
    );
    const { subscription } = app.get(SubscriptionRegistry).get(Named, 'handle', 'orders');
    expect(subscription).toMatchObject({
      queue,
      name: 'orders',
      prefetch: 4,
      allowNonJsonMessages: true,
    });
    expect(await broker.consumers(queue)).toBe(1);
  });
});
