import { isDeepStrictEqual } from 'node:util';
import { type ExchangeBinding, type ExchangeType, routes } from './routing';
import { noExchange, type RefusedMethod, ServerError } from './server-error';
import type { Table } from './stored-message';

/** What an exchange is declared with, its name apart. */
export interface ExchangeTerms {
  readonly type: ExchangeType;
  readonly durable?: boolean;
  /** Takes what no binding lets through. */
  readonly alternateExchange?: string;
}

interface Exchange extends ExchangeTerms {
  readonly bindings: ExchangeBinding[];
}

const TYPES = ['direct', 'topic', 'fanout', 'headers'] as const;

/** The exchanges of a server, with their bindings. The one without a name leads to every queue by its name. */
export class Exchanges {
  readonly #exchanges = new Map<string, Exchange>(
    TYPES.map((type) => [`amq.${type}`, { type, bindings: [] }]),
  );

  has(name: string): boolean {
    return name === '' || this.#exchanges.has(name);
  }

  /** @throws ServerError 406 where it is there with other terms, 403 for a reserved name. */
  declare(name: string, terms: ExchangeTerms): void {
    const present = this.#exchanges.get(name);
    if (present === undefined) {
      if (name.startsWith('amq.')) throw reserved('exchange', name, 'ExchangeDeclare');
      this.#exchanges.set(name, { ...terms, bindings: [] });
      return;
    }
    for (const [arg, was, is] of [
      ['type', present.type, terms.type],
      ['durable', present.durable ?? true, terms.durable ?? true],
    ] as const) {
      if (was === is) continue;
      const text = `inequivalent arg '${arg}' for exchange '${name}' in vhost '/': received '${is}' but current is '${was}'`;
      throw new ServerError(406, text, 'ExchangeDeclare');
    }
  }

  /** @throws ServerError 404 where there is no such exchange, 403 for the one without a name. */
  bind(source: string, binding: ExchangeBinding): void {
    const method = binding.toExchange ? 'ExchangeBind' : 'QueueBind';
    if (source === '') {
      throw new ServerError(403, 'operation not permitted on the default exchange', method);
    }
    if (binding.toExchange) this.#get(binding.destination, method);
    const { bindings } = this.#get(source, method);
    if (!bindings.some((present) => isDeepStrictEqual(present, binding))) bindings.push(binding);
  }

  /** Forgets the bindings of a queue that is gone. */
  unbind(queue: string): void {
    for (const { bindings } of this.#exchanges.values()) {
      const kept = bindings.filter(
        ({ destination, toExchange }) => toExchange || destination !== queue,
      );
      bindings.splice(0, bindings.length, ...kept);
    }
  }

  /**
   * The names of the queues to which a message goes, each once.
   * @throws ServerError 404 where there is no such exchange.
   */
  targets(exchange: string, routingKeys: readonly string[], headers: Table | undefined): string[] {
    const seen = new Set<string>();
    const targets = this.#targets(exchange, routingKeys, headers, seen);
    return [...new Set(targets)];
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
    const open = bindings.filter((binding) =>
      keys.some((key) => routes(type, binding, key, headers)),
    );
    if (open.length === 0 && alternateExchange !== undefined && this.has(alternateExchange)) {
      return this.#targets(alternateExchange, keys, headers, seen);
    }
    return open.flatMap(({ destination, toExchange }) =>
      toExchange ? this.#targets(destination, keys, headers, seen) : [destination],
    );
  }

  #get(name: string, method: RefusedMethod): Exchange {
    const exchange = this.#exchanges.get(name);
    if (exchange === undefined) throw noExchange(name, method);
    return exchange;
  }
}

/** The refusal of a name that only the server itself gives. */
export function reserved(what: string, name: string, method: RefusedMethod): ServerError {
  return new ServerError(403, `${what} name '${name}' contains reserved prefix 'amq.*'`, method);
}
