import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import type { ModuleMetadata, Provider } from '@nestjs/common';
import { afterEach } from 'vitest';
import { SettleModule, type SettleModuleOptions } from '../../../lib';
import { SettleTest, type SettleTestBuilder, type SettleTestOptions } from '../../../lib/testing';

const SILENT = { log: () => {}, warn: () => {}, error: () => {} };

/** What an application under test has beside its connection. */
export interface AppParts {
  readonly providers: Provider[];
  readonly controllers?: NonNullable<ModuleMetadata['controllers']>;
  readonly settle?: SettleModuleOptions;
  readonly rabbit?: Partial<RabbitMQConfig>;
}

/** An application as its users write it; nothing in it knows of a test. */
export function appOf({ providers, controllers, settle, rabbit }: AppParts): ModuleMetadata {
  return {
    imports: [
      RabbitMQModule.forRoot({
        uri: 'amqp://nowhere.invalid',
        exchanges: [{ name: 'orders', type: 'topic' }],
        logger: SILENT,
        ...rabbit,
      } as RabbitMQConfig),
      SettleModule.forRoot({ logger: SILENT, ...settle }),
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

/** Boots a test; it is closed when its `it` has ended. */
export async function boot(builder: SettleTestBuilder<SettleTest>): Promise<SettleTest> {
  const test = await builder.compile();
  open.add(test);
  return test;
}

/** Boots a test of an application. */
export function start(parts: AppParts, options: SettleTestOptions = {}): Promise<SettleTest> {
  return boot(SettleTest.create(appOf(parts), options));
}
