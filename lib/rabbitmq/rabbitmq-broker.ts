import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import type { Broker, BrokerConsumer, ConsumerListener } from '../broker/port';
import type { Clock } from '../clock';
import type { SubscriptionLog } from '../subscription/log';
import type { Subscription } from '../subscription/subscription';
import { ChannelLoop } from './channel-loop';
import { CopyConnection } from './copy-connection';
import { CopySender } from './copy-sender';
import { ManagedConnection } from './managed-connection';
import { tryAlone } from './trial';

/** What the adapter needs from outside. */
export interface RabbitBrokerParts {
  readonly connection: AmqpConnection;
  readonly clock: Clock;
  /** In ms, for all tries of one copy together. */
  readonly copyTimeout: number;
  logOf(subscription: Subscription): SubscriptionLog;
}

/** The port on a connection that golevelup manages: consuming there, copies on a connection beside it. */
export class RabbitBroker implements Broker {
  readonly #connection: ManagedConnection;
  readonly #copies: CopyConnection;

  constructor(private readonly parts: RabbitBrokerParts) {
    this.#connection = new ManagedConnection(parts.connection, parts.clock);
    this.#copies = new CopyConnection(parts.connection, parts.clock);
  }

  consumer(
    subscription: Subscription,
    prefetch: number,
    listener: ConsumerListener,
  ): BrokerConsumer {
    const { clock, copyTimeout, logOf, connection } = this.parts;
    const log = logOf(subscription);
    const copies = new CopySender(subscription, this.#copies, log, clock, copyTimeout);
    return new ChannelLoop({
      subscription,
      prefetch,
      listener,
      connection: this.#connection,
      copies,
      log,
      clock,
      tryAlone: (signal) => tryAlone(connection, subscription, log, { clock, signal }),
    });
  }

  close(limitMs: number): Promise<void> {
    return this.#copies.close(limitMs);
  }
}
