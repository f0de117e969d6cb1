import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { type FieldType, fieldTypeOf } from './field-values';
import type { Table } from './stored-message';

/** What a check looks at. */
export interface Argument {
  readonly value: unknown;
  readonly type: FieldType;
  /** All arguments of the declaration. */
  readonly all: Table;
  readonly version: ServerVersion;
}

/** The server's reason for refusing the value of an argument; `undefined` if it takes it. */
export type ArgumentCheck = (argument: Argument) => string | undefined;

const INTEGERS: readonly FieldType[] = [
  'byte',
  'unsignedbyte',
  'short',
  'unsignedshort',
  'signedint',
  'unsignedint',
  'long',
];
const LONGEST_TIME = 315_360_000_000;
const HIGHEST_PRIORITY = 255;

/** The checks of a queue's arguments, in the server's order. */
export const QUEUE_ARGUMENT_CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  'x-expires': all(integer, notZero, time),
  'x-message-ttl': all(integer, time),
  'x-dead-letter-routing-key': all(text, withExchange),
  'x-dead-letter-strategy': oneOf(['at-most-once', 'at-least-once'], 'invalid_dlx_strategy'),
  'x-max-length': all(integer, notNegative),
  'x-max-length-bytes': all(integer, notNegative),
  'x-max-in-memory-length': all(integer, notNegative),
  'x-max-in-memory-bytes': all(integer, notNegative),
  'x-max-priority': all(integer, notNegative, priority),
  'x-overflow': oneOf(['drop-head', 'reject-publish', 'reject-publish-dlx'], 'invalid_overflow'),
  'x-queue-mode': until([4, 3], queueMode),
  'x-queue-version': all(integer, notNegative, queueVersion),
  'x-single-active-consumer': boolean,
  'x-consumer-timeout': from([4, 3], all(integer, notNegative)),
  'x-consumer-disconnected-timeout': from([4, 3], all(integer, notNegative)),
  'x-quorum-initial-group-size': all(integer, notNegative, notZero),
  'x-queue-leader-locator': all(text, leaderLocator),
};

/** The checks of a consumer's arguments. */
export const CONSUMER_ARGUMENT_CHECKS: Readonly<Record<string, ArgumentCheck>> = {
  'x-priority': integer,
  'x-consumer-timeout': from([4, 3], all(integer, notNegative)),
};

/** The reason for refusing the argument `x-queue-type`. */
export const checkQueueType: ArgumentCheck = all(text, ({ value, version }) => {
  if (value === '' && isAtLeast(version, [4, 3])) return undefined;
  const isKnown = ['classic', 'quorum', 'stream'].includes(String(value));
  return isKnown ? undefined : `"unsupported queue type '${value}'"`;
});

/** The reason of a check for one of several arguments; `undefined` if the server takes it. */
export function refusalOf(
  check: ArgumentCheck,
  name: string,
  args: Table,
  version: ServerVersion,
): string | undefined {
  const value = args[name];
  if (value === undefined) return undefined;
  return check({ value, type: fieldTypeOf(value), all: args, version });
}

function all(...checks: readonly ArgumentCheck[]): ArgumentCheck {
  return (argument) => {
    for (const check of checks) {
      const reason = check(argument);
      if (reason !== undefined) return reason;
    }
    return undefined;
  };
}

function from(version: ServerVersion, check: ArgumentCheck): ArgumentCheck {
  return (argument) => (isAtLeast(argument.version, version) ? check(argument) : undefined);
}

function until(version: ServerVersion, check: ArgumentCheck): ArgumentCheck {
  return (argument) => (isAtLeast(argument.version, version) ? undefined : check(argument));
}

function oneOf(values: readonly string[], reason: string): ArgumentCheck {
  return all(text, ({ value }) => (values.includes(String(value)) ? undefined : reason));
}

function integer({ type }: Argument): string | undefined {
  return INTEGERS.includes(type) ? undefined : `"expected integer, got ${type}"`;
}

function text({ type }: Argument): string | undefined {
  return type === 'longstr' ? undefined : `{unacceptable_type,${type}}`;
}

function boolean({ type }: Argument): string | undefined {
  return type === 'bool' ? undefined : `{unacceptable_type,${type}}`;
}

function notNegative({ value }: Argument): string | undefined {
  return Number(value) < 0 ? `{value_negative,${value}}` : undefined;
}

function notZero({ value }: Argument): string | undefined {
  return value === 0 ? '{value_zero,0}' : undefined;
}

function time(argument: Argument): string | undefined {
  const isTooLong = Number(argument.value) > LONGEST_TIME;
  return isTooLong ? `{value_too_large,${argument.value}}` : notNegative(argument);
}

function priority({ value }: Argument): string | undefined {
  return Number(value) > HIGHEST_PRIORITY ? `{max_value_exceeded,${value}}` : undefined;
}

function withExchange({ all: args }: Argument): string | undefined {
  return args['x-dead-letter-exchange'] === undefined
    ? 'routing_key_but_no_dlx_defined'
    : undefined;
}

function queueMode(argument: Argument): string | undefined {
  const { value } = argument;
  const isKnown = value === 'default' || value === 'lazy';
  return text(argument) ?? (isKnown ? undefined : `"unsupported queue mode '${value}'"`);
}

function queueVersion({ value, version }: Argument): string | undefined {
  const isKnown = value === 2 || (value === 1 && !isAtLeast(version, [4, 3]));
  return isKnown ? undefined : `"unsupported queue version '${value}'"`;
}

function leaderLocator({ value, version }: Argument): string | undefined {
  const known = ['client-local', 'balanced', 'random', 'least-leaders'];
  if (isAtLeast(version, [4, 0])) known.push('min-masters');
  return known.includes(String(value)) ? undefined : 'invalid_queue_locator_arg';
}
