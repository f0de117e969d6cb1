import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import { fieldTypeOf } from './field-values';
import { type ExchangeType, isExchangeType } from './routing';
import { ServerError } from './server-error';
import type { Table } from './stored-message';

/** How an exchange is declared, apart from its name: amqplib's options, and the type. */
export interface ExchangeDeclaration {
  readonly type: string;
  readonly durable?: boolean;
  /** Whether the exchange is deleted with its last binding. */
  readonly autoDelete?: boolean;
  /** Whether only other exchanges can publish to it. */
  readonly internal?: boolean;
  /** Receives what no binding matches. */
  readonly alternateExchange?: string;
  readonly arguments?: Table;
}

/** An exchange's declaration as it reaches the server. */
export interface ExchangeProperties {
  readonly type: ExchangeType;
  readonly durable: boolean;
  readonly autoDelete: boolean;
  readonly internal: boolean;
  readonly alternateExchange: string | undefined;
}

/** The types that RabbitMQ has without a plugin, and since when; the server in memory has not. */
const OTHER_TYPES: Readonly<Record<string, ServerVersion>> = {
  'x-local-random': [4, 0],
  'x-modulus-hash': [4, 3],
};

/** @throws ServerError for a type that the server does not know, or an argument of the wrong type. */
export function exchangePropertiesOf(
  name: string,
  declaration: ExchangeDeclaration,
  version: ServerVersion,
): ExchangeProperties {
  const { type, durable = true, autoDelete = false, internal = false } = declaration;
  if (!isExchangeType(type)) throw unknownType(type, version);
  const args = declaration.arguments ?? {};
  const alternate = declaration.alternateExchange ?? args['alternate-exchange'];
  if (alternate !== undefined && typeof alternate !== 'string') {
    const text = `invalid type '${fieldTypeOf(alternate)}' for arg 'alternate-exchange' in exchange '${name}' in vhost '/'`;
    throw new ServerError(406, text, 'ExchangeDeclare');
  }
  return { type, durable, autoDelete, internal, alternateExchange: alternate };
}

/** @throws ServerError 406 if an exchange exists with other properties. */
export function requireSameExchange(
  name: string,
  present: ExchangeProperties,
  wanted: ExchangeProperties,
): void {
  for (const [arg, was, is] of [
    ['type', present.type, wanted.type],
    ['durable', present.durable, wanted.durable],
    ['auto_delete', present.autoDelete, wanted.autoDelete],
    ['internal', present.internal, wanted.internal],
  ] as const) {
    if (was !== is) throw inequivalent(name, arg, `'${was}'`, `'${is}'`);
  }
  const [was, is] = [present.alternateExchange, wanted.alternateExchange];
  if (was === is) return;
  const arg = 'alternate-exchange';
  const isBoth = was !== undefined && is !== undefined;
  throw isBoth
    ? inequivalent(name, arg, `'${was}'`, `'${is}'`)
    : inequivalent(name, arg, describe(was), describe(is));
}

function inequivalent(name: string, arg: string, was: string, is: string): ServerError {
  const text = `inequivalent arg '${arg}' for exchange '${name}' in vhost '/': received ${is} but current is ${was}`;
  return new ServerError(406, text, 'ExchangeDeclare');
}

function describe(value: string | undefined): string {
  return value === undefined ? 'none' : `the value '${value}' of type 'longstr'`;
}

// Before 4.0 the server closes the whole connection.
function unknownType(type: string, version: ServerVersion): ServerError {
  const code = isAtLeast(version, [4, 0]) ? 406 : 503;
  return new ServerError(code, textFor(type, version), 'ExchangeDeclare');
}

function textFor(type: string, version: ServerVersion): string {
  const since = Object.hasOwn(OTHER_TYPES, type) ? OTHER_TYPES[type] : undefined;
  if (since !== undefined && isAtLeast(version, since)) return texts.exchangeTypeNotInMemory(type);
  if (type === '') return `invalid exchange type ''`;
  return type.startsWith('x-') ? texts.noPluginsInMemory(type) : `unknown exchange type '${type}'`;
}
