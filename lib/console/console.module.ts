import { type DynamicModule, Inject, Module, type Provider } from '@nestjs/common';
import { ActiveSubscriptions } from '../lifecycle/active-subscriptions';
import { texts } from '../log/texts';
import { SettleStartupError } from '../model/errors';
import { CLOCK, CONNECTIONS, LOGGER } from '../nest/tokens';
import { Assets } from './assets';
import { consoleControllerOf } from './console-controller';
import { ConsoleRequests } from './console-requests';
import { DeadLetterQueues } from './dead-letter-queues';
import { EventStreams } from './event-streams';
import { resolveConsoleOptions, type SettleConsoleOptions } from './options';
import { Overview } from './overview';
import { QueueCountCache } from './queue-count-cache';
import { SettlementRecorder } from './settlement-recorder';
import { Tasks } from './tasks';
import * as tokens from './tokens';

const OPTION_FAULTS = Symbol('nestjs-settle.console-option-faults');

/** What the console takes from `SettleModule`. */
function fromSettleModule(provide: symbol, token: symbol | typeof ActiveSubscriptions): Provider {
  return {
    provide,
    useFactory: (value: unknown) => {
      if (value === undefined) throw new SettleStartupError([texts.consoleNeedsSettle]);
      return value;
    },
    inject: [{ token, optional: true }],
  };
}

/**
 * A page of the application that shows its subscriptions and dead letters: what each subscription is doing,
 * its counts, throughput and failures of the last hour; dead letters grouped, opened, replayed and discarded.
 * Controllers of the application's own HTTP adapter, Express or Fastify. Beside `SettleModule`.
 * @example
 * @Module({
 *   imports: [
 *     SettleModule.forRoot(),
 *     SettleConsoleModule.forRoot({ path: 'settle', guards: [AdminGuard], allow: ['replay', 'pause'] }),
 *   ],
 * })
 * export class AppModule {}
 * @publicApi
 */
@Module({})
export class SettleConsoleModule {
  /** @throws SettleStartupError if the options are not valid, or have no guards. */
  constructor(@Inject(OPTION_FAULTS) faults: readonly string[]) {
    if (faults.length > 0) throw new SettleStartupError(faults);
  }

  static forRoot(options: SettleConsoleOptions): DynamicModule {
    const { resolved, faults } = resolveConsoleOptions(options);
    const common = { module: SettleConsoleModule };
    const faultProvider = { provide: OPTION_FAULTS, useValue: faults };
    if (faults.length > 0) return { ...common, providers: [faultProvider] };
    return {
      ...common,
      imports: [...(options.imports ?? [])],
      controllers: [consoleControllerOf(resolved)],
      providers: [
        faultProvider,
        { provide: tokens.CONSOLE_OPTIONS, useValue: resolved },
        fromSettleModule(tokens.CONSOLE_CLOCK, CLOCK),
        fromSettleModule(tokens.CONSOLE_CONNECTIONS, CONNECTIONS),
        fromSettleModule(tokens.CONSOLE_LOGGER, LOGGER),
        fromSettleModule(tokens.CONSOLE_SUBSCRIPTIONS, ActiveSubscriptions),
        { provide: Assets, useFactory: () => new Assets() },
        SettlementRecorder,
        QueueCountCache,
        Overview,
        EventStreams,
        DeadLetterQueues,
        Tasks,
        ConsoleRequests,
      ],
    };
  }
}
