import { type DynamicModule, Module, type OnModuleDestroy } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import type { BrokerConnection } from '../amqp/connection';
import type { Clock } from '../clock';
import { connectionProviders } from '../connections';
import { texts } from '../log/texts';
import { CLOCK, CONNECTIONS } from '../nest/tokens';
import { DeadLetters } from './dead-letters';

/**
 * Options of `SettleDeadLettersModule.forRoot`.
 * @publicApi
 */
export interface DeadLettersModuleOptions {
  /**
   * The name of the connection of golevelup's `RabbitMQModule` whose broker has the queues.
   * @default 'default'
   */
  readonly connection?: string | undefined;
}

type Connections = () => readonly BrokerConnection[];

/**
 * Provides `DeadLetters`, in all modules of the application. Beside golevelup's `RabbitMQModule`, whose URL and
 * options it takes over; `SettleModule` is not needed.
 * @example
 * @Module({
 *   imports: [RabbitMQModule.forRoot({ uri: 'amqp://localhost' }), SettleDeadLettersModule.forRoot()],
 * })
 * export class AppModule {}
 * @publicApi
 */
@Module({})
export class SettleDeadLettersModule implements OnModuleDestroy {
  constructor(private readonly deadLetters: DeadLetters) {}

  /** Imported once; `DeadLetters` is global. */
  static forRoot({ connection = 'default' }: DeadLettersModuleOptions = {}): DynamicModule {
    return {
      module: SettleDeadLettersModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [
        ...connectionProviders,
        {
          provide: DeadLetters,
          useFactory: (connections: Connections, clock: Clock) =>
            DeadLetters.over({ clock, open: openerOf(connection, connections) }),
          inject: [CONNECTIONS, CLOCK],
        },
      ],
      exports: [DeadLetters],
    };
  }

  /** Ends what is running before the application's connections close. */
  onModuleDestroy(): Promise<void> {
    return this.deadLetters.close();
  }
}

// The connections exist once the application has started.
function openerOf(name: string, connections: Connections): BrokerConnection['openQueueClient'] {
  let found: BrokerConnection | undefined;
  return async () => {
    const all = found === undefined ? connections() : [];
    found ??= all.find((one) => one.name === name);
    if (found !== undefined) return found.openQueueClient();
    const known = all.map((one) => `"${one.name}"`);
    throw new Error(texts.deadLetterConnectionMissing(name, known));
  };
}
