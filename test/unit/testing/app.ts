import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import type { ModuleMetadata, Provider } from '@nestjs/common';
import { afterEach } from 'vitest';
import { SettleModule, type SettleModuleOptions } from '../../../lib';
import { SettleTest, type SettleTestBuilder, type SettleTestOptions } from '../../../lib/testing';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

/** An application under test, without its connection. */
export interface AppParts {
  readonly providers: Provider[];
  readonly controllers?: NonNullable<ModuleMetadata['controllers']>;
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  readonly settle?: SettleModuleOptions;
  readonly rabbit?: Partial<RabbitMQConfig>;
}

/** An application as its users write it, without any part for tests. */
export function appOf({
  providers,
  controllers,
  imports = [],
  settle,
  rabbit,
}: AppParts): ModuleMetadata {
  return {
    imports: [
      RabbitMQModule.forRoot({
        uri: 'amqp://nowhere.invalid',
        exchanges: [{ name: 'orders', type: 'topic' }],
        logger: SILENT,
        ...rabbit,
      } as RabbitMQConfig),
      SettleModule.forRoot({ logger: SILENT, ...settle }),
      ...imports,
    ],
    providers,
    controllers: controllers ?? [],
  };
}

const open = new Set<SettleTest>();

afterEach(async () => {
  for (const test of open) await test.close();
  open.clear();
});

/** Starts a test, which is closed after its `it`. */
export async function boot(builder: SettleTestBuilder<SettleTest>): Promise<SettleTest> {
  const test = await builder.compile();
  open.add(test);
  return test;
}

/** Starts a test of an application. */
export function start(parts: AppParts, options: SettleTestOptions = {}): Promise<SettleTest> {
  return boot(SettleTest.create(appOf(parts), options));
}
