import type { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { consumerOptionsOf } from '../amqp/consume-arguments';
import type { ConsumedSubscription } from '../amqp/consumed-subscription';
import type { Broker, BrokerConsumer, ConsumerListener, MessageCounts } from '../amqp/port';
import { Republisher } from '../amqp/republisher';
import type { Clock } from '../clock';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { ChannelLoop } from './channel-loop';
import type { ConsumeOptions } from './consumer-channel';
import { probeDeclaration } from './declaration-probe';
import { ManagedConnection } from './managed-connection';
import { countQueues } from './queue-counts';
import { RepublishConnection } from './republish-connection';
import { RepublishRights } from './republish-rights';
import { SecondConnection } from './second-connection';

/** What the adapter is made of. */
export interface RabbitMQBrokerDependencies {
  readonly connection: AmqpConnection;
  readonly clock: Clock;
  /** In ms, for all tries of one message together. */
  readonly republishTimeout: number;
  logOf(subscription: SubscriptionMetadata): SubscriptionLog;
}

/** The port on a connection that golevelup manages: consuming there, publishing on a second connection. */
export class RabbitMQBroker implements Broker {
  readonly #connection: ManagedConnection;
  readonly #republishing: RepublishConnection;
  readonly #rights: RepublishRights;

  constructor(private readonly dependencies: RabbitMQBrokerDependencies) {
    const { connection, clock } = dependencies;
    this.#connection = new ManagedConnection(connection, clock);
    this.#rights = new RepublishRights(this.#connection, clock);
    const open = (): SecondConnection => new SecondConnection(this.#connection, clock);
    this.#republishing = new RepublishConnection(open(), open, clock);
  }

  consumer(
    subscription: ConsumedSubscription,
    prefetch: number,
    listener: ConsumerListener,
  ): BrokerConsumer {
    const { clock, connection, republishTimeout, logOf } = this.dependencies;
    const log = logOf(subscription);
    return new ChannelLoop({
      subscription,
      prefetch,
      listener,
      connection: this.#connection,
      republisher: new Republisher(subscription, this.#republishing, log, clock, republishTimeout),
      log,
      clock,
      consumeOptions: consumeOptionsOf(connection, subscription),
      probeDeclaration: (signal) =>
        probeDeclaration(this.#connection, subscription, log, { clock, signal }),
      checkRights: () => this.#rights.check(subscription, log),
    });
  }

  async queueCounts(queues: readonly string[]): Promise<ReadonlyMap<string, MessageCounts>> {
    const { current } = this.#connection;
    if (current === undefined) throw new Error(texts.connectionNotOpen);
    return countQueues(current, queues);
  }

  async close(limitMs: number): Promise<void> {
    await Promise.all([this.#republishing.close(limitMs), this.#rights.close(limitMs)]);
  }
}

// The connection's `queues` can have a consumer tag for the queue; that of the subscription takes precedence.
function consumeOptionsOf(
  { configuration }: AmqpConnection,
  subscription: SubscriptionMetadata,
): ConsumeOptions['options'] {
  const { queue, noAck } = subscription;
  const { consumerTag } = configuration.queues?.find(({ name }) => name === queue) ?? {};
  const tag = consumerTag === undefined ? {} : { consumerTag };
  return { ...tag, ...consumerOptionsOf(subscription), noAck };
}
