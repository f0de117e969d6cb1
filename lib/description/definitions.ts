import type { ApplicationDescription, ConsumerDescription } from './description';

/** Definitions as RabbitMQ imports them: `rabbitmqctl import_definitions`, `load_definitions`. */
export interface Definitions {
  readonly exchanges: readonly object[];
  readonly queues: readonly object[];
  readonly bindings: readonly object[];
}

/**
 * The definitions of everything that consumers need and that has a name: queues, waiting queues and
 * dead-letter queues, the exchanges that the application declares, bindings. Exclusive queues are left out:
 * they belong to a connection.
 * @param virtualHost in place of those of the connections.
 */
export function definitionsOf(
  { consumers }: ApplicationDescription,
  virtualHost?: string,
): Definitions {
  const all = consumers.map((consumer) => definedBy(consumer, virtualHost ?? consumer.virtualHost));
  return {
    exchanges: unique(all.flatMap(({ exchanges }) => exchanges)),
    queues: unique(all.flatMap(({ queues }) => queues)),
    bindings: unique(all.flatMap(({ bindings }) => bindings)),
  };
}

/** The exchanges that have to exist before, since the application does not declare them. */
export function foreignExchangesOf({ consumers }: ApplicationDescription): readonly string[] {
  const exchanges = consumers.flatMap((consumer) => consumer.exchanges);
  const names = exchanges.filter(({ type }) => type === undefined).map(({ name }) => name);
  return [...new Set(names)];
}

function definedBy(consumer: ConsumerDescription, vhost: string): Definitions {
  const { queue, exchanges, queues, bindings } = consumer;
  const isPermanent = queue !== undefined && !queues.some(({ exclusive }) => exclusive);
  return {
    exchanges: exchanges
      .filter(({ type }) => type !== undefined)
      .map(({ name, type, durable, autoDelete, internal, arguments: args }) => ({
        name,
        vhost,
        type,
        durable,
        auto_delete: autoDelete,
        internal,
        arguments: args,
      })),
    queues: queues
      .filter(({ name, exclusive }) => name !== undefined && !exclusive)
      .map(({ name, durable, autoDelete, arguments: args }) => ({
        name,
        vhost,
        durable,
        auto_delete: autoDelete,
        arguments: args,
      })),
    bindings: (isPermanent ? bindings : []).map(({ exchange, routingKey, arguments: args }) => ({
      source: exchange,
      vhost,
      destination: queue,
      destination_type: 'queue',
      routing_key: routingKey,
      arguments: args,
    })),
  };
}

function unique(definitions: readonly object[]): readonly object[] {
  const byText = new Map(definitions.map((one) => [JSON.stringify(one), one]));
  return [...byText.values()];
}
