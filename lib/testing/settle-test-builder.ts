import type { LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { FailFast } from '../lifecycle/fail-fast';
import { GracefulShutdown } from '../lifecycle/graceful-shutdown';
import { SubscriptionRegistry } from '../lifecycle/registry';
import { SettlementEvents } from '../lifecycle/settlement-events';
import { texts } from '../log/texts';
import type { FailFastEvent } from '../model/settle-options';
import { LOGGER } from '../nest/tokens';
import { MemoryTestBroker } from './memory-test-broker';
import { Quiescence } from './quiescence';
import { RabbitMQTestBroker } from './rabbitmq-test-broker';
import type { TestBroker, TestTopology } from './test-broker';

/** How a test is run. */
export interface SettleTestOptions {
  /**
   * `'memory'`: no server, no socket. `'rabbitmq'` runs the same test against a real one.
   * @default 'memory'
   */
  readonly broker?: 'memory' | 'rabbitmq';
  /** The URL of the real server; it replaces every `uri` of the application. */
  readonly url?: string;
  /**
   * In memory: `'virtual'` is moved by `advance` only; `'real'` is the real time.
   * @default 'virtual'
   */
  readonly clock?: 'virtual' | 'real';
  /**
   * The version of RabbitMQ that is imitated in memory: what it refuses, and what it counts.
   * @default '4.3'
   */
  readonly version?: '3.10' | '4.0' | '4.3';
  /** What other services have declared on the server. */
  readonly topology?: TestTopology;
}

/** An application that has been compiled for a test. */
export interface CompiledApplication {
  readonly module: TestingModule;
  readonly broker: TestBroker;
  readonly quiescence: Quiescence;
  /** The event with which failFast has stopped the application, once it has. */
  readonly failFast: readonly FailFastEvent[];
}

/** As Nest's `overrideProvider`, but it returns the builder of the test. */
export interface ProviderOverride<T> {
  useValue(value: unknown): SettleTestBuilder<T>;
  useClass(type: unknown): SettleTestBuilder<T>;
  useFactory(options: OverrideFactory): SettleTestBuilder<T>;
}

type Override = ReturnType<TestingModuleBuilder['overrideProvider']>;
type OverrideFactory = Parameters<Override['useFactory']>[0];

/** Builds a test; `compile` starts the application. */
export class SettleTestBuilder<T> {
  readonly #builder: TestingModuleBuilder;
  readonly #broker: TestBroker;
  readonly #failFast: FailFastEvent[] = [];

  constructor(
    metadata: ModuleMetadata,
    private readonly options: SettleTestOptions,
    private readonly create: (application: CompiledApplication) => T,
  ) {
    this.#broker = brokerFor(options);
    this.#builder = Test.createTestingModule(metadata);
    this.#broker.prepare(this.#builder);
    // Replaces an `onFailFast` of the application, too: no test is to end the process.
    this.#builder.overrideProvider(FailFast).useFactory({
      factory: (logger: LoggerService, shutdown: GracefulShutdown) =>
        new FailFast({}, logger, (event) => this.#failFast.push(event), shutdown),
      inject: [LOGGER, GracefulShutdown],
    });
  }

  /** As in Nest's testing module. For the token of a subscription: the options that replace its own. */
  overrideProvider(
    token: Parameters<TestingModuleBuilder['overrideProvider']>[0],
  ): ProviderOverride<T> {
    const through = (work: (override: Override) => unknown): this => {
      work(this.#builder.overrideProvider(token));
      return this;
    };
    return {
      useValue: (value) => through((override) => override.useValue(value)),
      useClass: (type) => through((override) => override.useClass(type)),
      useFactory: (options) => through((override) => override.useFactory(options)),
    };
  }

  /** Whatever else Nest's testing module can override. */
  override(work: (builder: TestingModuleBuilder) => unknown): this {
    work(this.#builder);
    return this;
  }

  /** Starts the application. Rejects with what its start throws, once it is closed again. */
  async compile(): Promise<T> {
    const module = await this.#builder.compile();
    const [broker, failFast] = [this.#broker, this.#failFast];
    const registry = module.get(SubscriptionRegistry, { strict: false });
    const events = module.get(SettlementEvents, { strict: false });
    const quiescence = new Quiescence(broker, registry, events);
    try {
      const test = this.create({ module, broker, quiescence, failFast });
      await broker.declare(this.options.topology ?? {});
      await module.init();
      return test;
    } catch (error) {
      await broker.close(() => module.close(), quiescence);
      throw error;
    }
  }
}

function brokerFor({ broker, url, clock, version = '4.3' }: SettleTestOptions): TestBroker {
  if (broker !== 'rabbitmq') {
    const [major, minor] = version.split('.').map(Number);
    return new MemoryTestBroker(clock ?? 'virtual', [major ?? 4, minor ?? 3]);
  }
  if (url === undefined) throw new TypeError(texts.testUrlMissing);
  return new RabbitMQTestBroker(url);
}
