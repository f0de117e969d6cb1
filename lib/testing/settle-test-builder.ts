import type { LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { FailFast } from '../lifecycle/fail-fast';
import { GracefulShutdown } from '../lifecycle/graceful-shutdown';
import { texts } from '../log/texts';
import type { FailFastEvent } from '../model/settle-options';
import { LOGGER } from '../nest/tokens';
import { MemoryTestBroker } from './memory-test-broker';
import { RabbitTestBroker } from './rabbitmq-test-broker';
import type { TestBroker, TestTopology } from './test-broker';

/** How a test is run. */
export interface SettleTestOptions {
  /** Default `'memory'`: no server, no socket. `'rabbitmq'` runs the same test against a real one. */
  readonly broker?: 'memory' | 'rabbitmq';
  /** Of the real server; it takes the place of every `uri` in the application. */
  readonly url?: string;
  /** In memory: `'virtual'`, the default, is moved by `advance`; `'real'` is the time itself. */
  readonly clock?: 'virtual' | 'real';
  /** The server that is imitated in memory: what counts as a failed delivery differs. Default 4.3. */
  readonly version?: '3.10' | '4.0' | '4.3';
  /** What other services have declared on the server. */
  readonly topology?: TestTopology;
}

/** What a test is made of once the application has been compiled. */
export interface CompiledParts {
  readonly module: TestingModule;
  readonly broker: TestBroker;
  /** The event with which failFast has stopped the application, once it has. */
  readonly failFast: readonly FailFastEvent[];
}

/** As Nest's `overrideProvider`, but back to the builder of the test. */
export interface ProviderOverride<T> {
  useValue(value: unknown): SettleTestBuilder<T>;
  useClass(type: unknown): SettleTestBuilder<T>;
  useFactory(options: OverrideFactory): SettleTestBuilder<T>;
}

type Override = ReturnType<TestingModuleBuilder['overrideProvider']>;
type OverrideFactory = Parameters<Override['useFactory']>[0];

/** Builds a test; `compile` boots the application. */
export class SettleTestBuilder<T> {
  readonly #builder: TestingModuleBuilder;
  readonly #broker: TestBroker;
  readonly #failFast: FailFastEvent[] = [];

  constructor(
    metadata: ModuleMetadata,
    private readonly options: SettleTestOptions,
    private readonly made: (parts: CompiledParts) => T,
  ) {
    this.#broker = brokerFor(options);
    this.#builder = Test.createTestingModule(metadata);
    this.#broker.prepare(this.#builder);
    // Also where the application has its own `onFailFast`: no test is to end the process.
    this.#builder.overrideProvider(FailFast).useFactory({
      factory: (logger: LoggerService, shutdown: GracefulShutdown) =>
        new FailFast({}, logger, (event) => this.#failFast.push(event), shutdown),
      inject: [LOGGER, GracefulShutdown],
    });
  }

  /** As on Nest's testing module; a subscription's token takes the options to lay over it. */
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

  /** Boots the application. @throws what its boot throws, after closing what it has opened. */
  async compile(): Promise<T> {
    const module = await this.#builder.compile();
    const [broker, failFast] = [this.#broker, this.#failFast];
    try {
      const test = this.made({ module, broker, failFast });
      await broker.declare(this.options.topology ?? {});
      await module.init();
      return test;
    } catch (error) {
      await broker.close(() => module.close());
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
  return new RabbitTestBroker(url);
}
