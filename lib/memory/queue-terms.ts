import type { QueueDeclaration } from '../amqp/queue-declarations';
import { type RefusedMethod, ServerError } from './server-error';
import type { Table } from './stored-message';

/** A queue's declaration as it reaches the server: flags, and arguments alone. */
export interface QueueTerms {
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: Table;
}

/** The options that amqplib sends as arguments. */
const OPTIONS = {
  expires: 'x-expires',
  messageTtl: 'x-message-ttl',
  deadLetterExchange: 'x-dead-letter-exchange',
  deadLetterRoutingKey: 'x-dead-letter-routing-key',
  maxLength: 'x-max-length',
  maxPriority: 'x-max-priority',
  overflow: 'x-overflow',
  queueMode: 'x-queue-mode',
} as const;

/** The arguments that a server knows; it compares no others. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(OPTIONS),
  'x-queue-type',
  'x-delivery-limit',
  'x-dead-letter-strategy',
  'x-max-length-bytes',
  'x-single-active-consumer',
  'x-consumer-timeout',
  'x-delayed-retry-type',
  'x-delayed-retry-min',
  'x-delayed-retry-max',
]);

const NOT_NEGATIVE = ['x-message-ttl', 'x-expires', 'x-max-length', 'x-max-length-bytes'];

/** What amqplib makes of a declaration. */
export function termsOf(declaration: QueueDeclaration): QueueTerms {
  const { durable = true, exclusive = false, autoDelete = false } = declaration;
  const args: Record<string, unknown> = { ...declaration.arguments };
  for (const [option, name] of Object.entries(OPTIONS)) {
    const value = (declaration as unknown as Table)[option];
    if (value !== undefined) args[name] = value;
  }
  return { durable, exclusive, autoDelete, arguments: args };
}

/** @throws ServerError 406 for what no queue may have. */
export function requireValid(queue: string, terms: QueueTerms): void {
  const { arguments: args } = terms;
  for (const name of NOT_NEGATIVE) {
    const value = args[name];
    if (typeof value === 'number' && value < 0) {
      throw refused(queue, `invalid arg '${name}'`, `: {value_negative,${value}}`);
    }
  }
  const hasKeyAlone =
    args['x-dead-letter-routing-key'] !== undefined && args['x-dead-letter-exchange'] === undefined;
  if (hasKeyAlone) {
    const text = "invalid arg 'x-dead-letter-routing-key'";
    throw refused(queue, text, ': routing_key_but_no_dlx_defined');
  }
  if (args['x-queue-type'] !== 'quorum') return;
  if (!terms.durable) throw refused(queue, "invalid property 'non-durable'");
  if (terms.exclusive) throw refused(queue, "invalid property 'exclusive-owner'");
}

/** @throws ServerError 405 or 406 where a queue is there with other terms. */
export function requireEquivalent(queue: string, present: QueueTerms, wanted: QueueTerms): void {
  for (const [name, was, is] of [
    ['durable', present.durable, wanted.durable],
    ['auto_delete', present.autoDelete, wanted.autoDelete],
  ]) {
    if (was !== is) throw inequivalent(queue, `${name}`, `'${was}'`, `'${is}'`);
  }
  if (present.exclusive !== wanted.exclusive) throw locked(queue, 'QueueDeclare');
  for (const name of KNOWN) {
    const [was, is] = [argumentOf(present, name), argumentOf(wanted, name)];
    if (was === is) continue;
    const isBoth = was !== undefined && is !== undefined;
    throw isBoth
      ? inequivalent(queue, name, `'${was}'`, `'${is}'`)
      : inequivalent(queue, name, described(was), described(is));
  }
}

/** The refusal of a queue that is another connection's. */
export function locked(queue: string, method: RefusedMethod): ServerError {
  const text = `cannot obtain exclusive access to locked queue '${queue}' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.`;
  return new ServerError(405, text, method);
}

// The type `classic` is what a queue is without the argument.
function argumentOf({ arguments: args }: QueueTerms, name: string): unknown {
  const value = args[name];
  return name === 'x-queue-type' && value === 'classic' ? undefined : value;
}

function inequivalent(queue: string, name: string, was: string, is: string): ServerError {
  const text = `inequivalent arg '${name}'`;
  return refused(queue, text, `: received ${is} but current is ${was}`);
}

function refused(queue: string, text: string, detail = ''): ServerError {
  return new ServerError(406, `${text} for queue '${queue}' in vhost '/'${detail}`, 'QueueDeclare');
}

function described(value: unknown): string {
  return value === undefined ? 'none' : `the value '${value}' of type '${typeNameOf(value)}'`;
}

// The types in which amqplib encodes.
function typeNameOf(value: unknown): string {
  if (typeof value === 'string') return 'longstr';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'number') return 'table';
  if (value >= -128 && value < 128) return 'byte';
  if (value >= -32_768 && value < 32_768) return 'short';
  return value >= -(2 ** 31) && value < 2 ** 31 ? 'signedint' : 'long';
}
