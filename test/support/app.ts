import { type RabbitMQConfig, RabbitMQModule } from '@golevelup/nestjs-rabbitmq';
import type { INestApplication, LoggerService, ModuleMetadata, Provider } from '@nestjs/common';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterEach } from 'vitest';
import {
  type FailFastEvent,
  SettleModule,
  type SettleModuleOptions,
  type Settlement,
  SettlementEvents,
  SubscriptionRegistry,
} from '../../lib';
import { url, withoutNagle } from './broker';
import { until } from './eventually';

/** Records the lines that the module logs. */
export class LogRecorder implements LoggerService {
  readonly lines: { level: string; text: string; rest: unknown[] }[] = [];

  log = this.#recorder('log');
  warn = this.#recorder('warn');
  error = this.#recorder('error');
  debug = this.#recorder('debug');

  #recorder(level: string) {
    return (text: unknown, ...rest: unknown[]): void => {
      this.lines.push({ level, text: String(text), rest });
    };
  }

  /** The lines of some levels that match a pattern. */
  matching(pattern: RegExp, levels: readonly string[] = ['log', 'warn', 'error']): string[] {
    return this.lines
      .filter(({ level, text }) => levels.includes(level) && pattern.test(text))
      .map(({ text }) => text);
  }
}

const SILENT: LoggerService = {
  log: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

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

const open = new Set<TestApp>();

afterEach(async () => {
  for (const app of open) await app.close();
});

/** Starts an application with the module and one connection; it is closed after the test. */
export async function startApp(parts: AppParts): Promise<TestApp> {
  const log = new LogRecorder();
  const failed: FailFastEvent[] = [];
  @Module({
    imports: [
      ...(parts.importsBefore ?? []),
      RabbitMQModule.forRoot({
        uri: url,
        logger: SILENT,
        connectionManagerOptions: {
          reconnectTimeInSeconds: 0.3,
          heartbeatIntervalInSeconds: 5,
          connectionOptions: withoutNagle,
        },
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
  const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
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
