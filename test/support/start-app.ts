import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import {
  type INestApplication,
  Module,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { afterEach } from 'vitest';
import {
  type FailFastEvent,
  SettleModule,
  type SettleModuleOptions,
  type Settlement,
  SettlementEvents,
  SubscriptionRegistry,
} from '../../lib';
import { until } from './eventually';
import { LogRecorder, silentLogger } from './log-recorder';

/** The parts of an application under test. */
export interface AppParts {
  readonly providers: readonly Provider[];
  readonly controllers?: ModuleMetadata['controllers'];
  readonly imports?: NonNullable<ModuleMetadata['imports']>;
  /** Imported before this module. */
  readonly importsBefore?: NonNullable<ModuleMetadata['imports']>;
  readonly settle?: SettleModuleOptions;
  readonly rabbit?: Partial<RabbitMQConfig>;
  /** Called before `init`; for global enhancers. */
  readonly prepare?: (app: INestApplication) => void;
  /** Whether to wait until every subscription consumes; default true. */
  readonly wait?: boolean;
}

/** An application under test. */
export interface TestApp {
  readonly app: INestApplication;
  readonly registry: SubscriptionRegistry;
  readonly log: LogRecorder;
  /** All settlements so far. */
  readonly settlements: Settlement[];
  /** The events of onFailFast. */
  readonly failed: FailFastEvent[];
  settled(count: number, timeoutMs?: number): Promise<Settlement[]>;
  close(): Promise<void>;
}

/** How an application is created, and how it connects. */
export interface AppPlatform {
  readonly rabbit: RabbitMQConfig;
  create(module: Type): Promise<INestApplication>;
}

const open = new Set<TestApp>();

afterEach(async () => {
  for (const app of open) await app.close();
});

/** Starts an application with the module and one connection; it is closed after the test. */
export async function startAppOn(platform: AppPlatform, parts: AppParts): Promise<TestApp> {
  const log = new LogRecorder();
  const failed: FailFastEvent[] = [];
  @Module({
    imports: [
      ...(parts.importsBefore ?? []),
      RabbitMQModule.forRoot({
        ...platform.rabbit,
        logger: silentLogger,
        ...parts.rabbit,
      } as RabbitMQConfig),
      SettleModule.forRoot({
        logger: log,
        onFailFast: (event) => {
          failed.push(event);
        },
        ...parts.settle,
      }),
      ...(parts.imports ?? []),
    ],
    providers: [...parts.providers],
    controllers: [...(parts.controllers ?? [])],
  })
  class AppModule {}
  const app = await platform.create(AppModule);
  parts.prepare?.(app);
  const settlements: Settlement[] = [];
  app.get(SettlementEvents).subscribe((settlement) => settlements.push(settlement));
  const testApp: TestApp = {
    app,
    registry: app.get(SubscriptionRegistry),
    log,
    settlements,
    failed,
    settled: async (count, timeoutMs = 15_000) => {
      await until(() => settlements.length >= count, { timeoutMs, what: `${count} settlements` });
      return settlements;
    },
    close: async () => {
      open.delete(testApp);
      await app.close();
    },
  };
  open.add(testApp);
  await app.init();
  if (parts.wait !== false) await testApp.registry.started;
  return testApp;
}
