import type { ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModule, type TestingModuleBuilder } from '@nestjs/testing';
import { messages } from '../outcome/messages';
import type { FailFastEvent } from '../runtime/fail-fast';
import { LEAVE } from '../runtime/tokens';
import { MemoryTestBroker } from './memory-test-broker';
import { RabbitTestBroker } from './rabbitmq-test-broker';
import type { TestBroker } from './test-broker';

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
}

/** Builds a test; `compile` boots the application. */
export class SettleTestBuilder<T> {
  readonly #builder: TestingModuleBuilder;
  readonly #broker: TestBroker;
  readonly #failFast: FailFastEvent[] = [];

  constructor(
    metadata: ModuleMetadata,
    options: SettleTestOptions,
    private readonly made: (
      module: TestingModule,
      broker: TestBroker,
      failFast: readonly FailFastEvent[],
    ) => T,
  ) {
    this.#broker = brokerFor(options);
    this.#builder = Test.createTestingModule(metadata);
    this.#broker.prepare(this.#builder);
    this.#builder
      .overrideProvider(LEAVE)
      .useValue((event: FailFastEvent) => this.#failFast.push(event));
  }

  /** As on Nest's testing module; a subscription's token takes the options to lay over it. */
  overrideProvider(token: Parameters<TestingModuleBuilder['overrideProvider']>[0]): {
    useValue(value: unknown): SettleTestBuilder<T>;
  } {
    return {
      useValue: (value) => {
        this.#builder.overrideProvider(token).useValue(value);
        return this;
      },
    };
  }

  /** Whatever else Nest's testing module can override. */
  override(work: (builder: TestingModuleBuilder) => unknown): this {
    work(this.#builder);
    return this;
  }

  /** Boots the application. @throws what its boot throws. */
  async compile(): Promise<T> {
    const module = await this.#builder.compile();
    const test = this.made(module, this.#broker, this.#failFast);
    await module.init();
    return test;
  }
}

function brokerFor({ broker, url, clock, version = '4.3' }: SettleTestOptions): TestBroker {
  if (broker !== 'rabbitmq') {
    const [major, minor] = version.split('.').map(Number);
    return new MemoryTestBroker(clock ?? 'virtual', [major ?? 4, minor ?? 3]);
  }
  if (url === undefined) throw new TypeError(messages.testUrlMissing);
  return new RabbitTestBroker(url);
}
