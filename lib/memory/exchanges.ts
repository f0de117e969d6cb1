import { isDeepStrictEqual } from 'node:util';
import type { ServerVersion } from '../amqp/queue-declarations';
import {
  type ExchangeDeclaration,
  type ExchangeProperties,
  exchangePropertiesOf,
  requireSameExchange,
} from './exchange-properties';
import { EXCHANGE_TYPES, type ExchangeBinding, requireValidBinding, routes } from './routing';
import {
  defaultExchangeRefused,
  noExchange,
  type RefusedMethod,
  reservedName,
  ServerError,
} from './server-error';
import type { Table } from './stored-message';

interface Exchange extends ExchangeProperties {
  readonly bindings: ExchangeBinding[];
}

/** The exchanges of a server, with their bindings. The default exchange reaches every queue by its name. */
export class Exchanges {
  readonly #exchanges = new Map<string, Exchange>();

  constructor(private readonly version: ServerVersion) {
    for (const type of EXCHANGE_TYPES) this.#add(`amq.${type}`, { type });
    this.#add('amq.match', { type: 'headers' });
  }

  has(name: string): boolean {
    return name === '' || this.#exchanges.has(name);
  }

  /** @throws ServerError for an unknown type, a reserved name, or an exchange with other properties. */
  declare(name: string, declaration: ExchangeDeclaration): void {
    const wanted = exchangePropertiesOf(name, declaration, this.version);
    if (name === '') throw defaultExchangeRefused('ExchangeDeclare');
    const present = this.#exchanges.get(name);
    if (present !== undefined) return requireSameExchange(name, present, wanted);
    if (name.startsWith('amq.')) throw reservedName('exchange', name, 'ExchangeDeclare');
    this.#exchanges.set(name, { ...wanted, bindings: [] });
  }

  /** @throws ServerError 404 if the exchange does not exist, 403 for the default exchange. */
  check(name: string): void {
    if (name === '') throw defaultExchangeRefused('ExchangeDeclare');
    this.#get(name, 'ExchangeDeclare');
  }

  /** @throws ServerError if an exchange does not exist or does not take the binding. */
  bind(source: string, binding: ExchangeBinding): void {
    const method = binding.toExchange ? 'ExchangeBind' : 'QueueBind';
    const { type, bindings } = this.source(source, method);
    if (binding.toExchange) this.#get(binding.destination, method);
    if (type === 'headers') requireValidBinding(binding, method);
    if (!bindings.some((present) => isDeepStrictEqual(present, binding))) bindings.push(binding);
  }

  /** The exchange that a binding starts from. @throws ServerError 403 or 404. */
  source(name: string, method: RefusedMethod): Exchange {
    if (name === '') throw defaultExchangeRefused(method);
    return this.#get(name, method);
  }

  /** Removes the bindings to a queue that was deleted, and the auto-delete exchanges that lose their last one. */
  unbindQueue(queue: string): void {
    this.#unbind((binding) => !binding.toExchange && binding.destination === queue);
  }

  /**
   * The names of the queues to which a message is routed, each once.
   * @throws ServerError 404 if the exchange does not exist.
   */
  targets(exchange: string, routingKeys: readonly string[], headers: Table | undefined): string[] {
    const seen = new Set<string>();
    return [...new Set(this.#targets(exchange, routingKeys, headers, seen))];
  }

  /** @throws ServerError 404 if the exchange does not exist, 403 if clients can't publish to it. */
  requirePublishable(name: string): void {
    if (name === '' || !this.#get(name, 'BasicPublish').internal) return;
    const text = `cannot publish to internal exchange '${name}' in vhost '/'`;
    throw new ServerError(403, text, 'BasicPublish');
  }

  #targets(
    name: string,
    keys: readonly string[],
    headers: Table | undefined,
    seen: Set<string>,
  ): string[] {
    if (name === '') return [...keys];
    if (seen.has(name)) return [];
    const { type, bindings, alternateExchange } = this.#get(name, 'BasicPublish');
    seen.add(name);
    const matching = bindings.filter((binding) =>
      keys.some((key) => routes(type, binding, key, headers)),
    );
    if (matching.length === 0 && alternateExchange !== undefined && this.has(alternateExchange)) {
      return this.#targets(alternateExchange, keys, headers, seen);
    }
    return matching.flatMap(({ destination, toExchange }) =>
      toExchange ? this.#targets(destination, keys, headers, seen) : [destination],
    );
  }

  #unbind(isGone: (binding: ExchangeBinding) => boolean): void {
    for (const [name, { bindings, autoDelete }] of this.#exchanges) {
      const kept = bindings.filter((binding) => !isGone(binding));
      if (kept.length === bindings.length) continue;
      bindings.splice(0, bindings.length, ...kept);
      if (!autoDelete || kept.length > 0) continue;
      this.#exchanges.delete(name);
      this.#unbind((binding) => binding.toExchange && binding.destination === name);
    }
  }

  #add(name: string, declaration: ExchangeDeclaration): void {
    const properties = exchangePropertiesOf(name, declaration, this.version);
    this.#exchanges.set(name, { ...properties, bindings: [] });
  }

  #get(name: string, method: RefusedMethod): Exchange {
    const exchange = this.#exchanges.get(name);
    if (exchange === undefined) throw noExchange(name, method);
    return exchange;
  }
}
