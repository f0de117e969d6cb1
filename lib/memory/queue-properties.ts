import { isAtLeast, type QueueDeclaration, type ServerVersion } from '../amqp/queue-declarations';
import { wireArgumentsOf } from '../amqp/wire-arguments';
import { type FieldType, fieldTypeOf, transferTable } from './field-values';
import { lockedQueue, ServerError } from './server-error';
import type { Table } from './stored-message';

/** A queue's declaration as it reaches the server: its flags and its arguments. */
export interface QueueProperties {
  readonly durable: boolean;
  readonly exclusive: boolean;
  readonly autoDelete: boolean;
  readonly arguments: Table;
}

/** Numbers are compared as whole ones or as fractions, whatever their size. */
const CLASSES: Readonly<Partial<Record<FieldType, string>>> = {
  byte: 'integer',
  unsignedbyte: 'integer',
  short: 'integer',
  unsignedshort: 'integer',
  signedint: 'integer',
  unsignedint: 'integer',
  long: 'integer',
  float: 'fraction',
  double: 'fraction',
};

/**
 * What amqplib makes of a declaration.
 * @throws TypeError for an argument that it can't encode.
 */
export function queuePropertiesOf(
  declaration: QueueDeclaration,
  version: ServerVersion,
): QueueProperties {
  const { durable = true, exclusive = false, autoDelete = false } = declaration;
  const { value } = transferTable(wireArgumentsOf(declaration));
  return {
    durable: durable && !exclusive, // An exclusive queue is never durable.
    exclusive,
    autoDelete,
    arguments: isUntyped(value, version) ? { ...value, 'x-queue-type': 'classic' } : value,
  };
}

// From 4.0 on the server stores the type of a queue that was declared without one.
function isUntyped({ 'x-queue-type': type }: Table, version: ServerVersion): boolean {
  if (type === '') return isAtLeast(version, [4, 3]);
  return type === undefined && isAtLeast(version, [4, 0]);
}

/**
 * Compares a declaration with the queue that exists.
 * @param names the arguments to compare, in the server's order.
 * @throws ServerError 405 or 406 if they differ.
 */
export function requireEquivalent(
  queue: string,
  present: QueueProperties,
  wanted: QueueProperties,
  names: readonly string[],
): void {
  if (present.exclusive !== wanted.exclusive) throw lockedQueue(queue, 'QueueDeclare');
  for (const [name, was, is] of [
    ['durable', present.durable, wanted.durable],
    ['auto_delete', present.autoDelete, wanted.autoDelete],
  ]) {
    if (was !== is) throw inequivalent(queue, `${name}`, `'${was}'`, `'${is}'`);
  }
  for (const name of names) {
    const [was, is] = [present.arguments[name], wanted.arguments[name]];
    if (isSame(was, is) || (name === 'x-queue-type' && isClassic(was) && isClassic(is))) continue;
    const isBoth = was !== undefined && is !== undefined;
    throw isBoth
      ? inequivalent(queue, name, `'${was}'`, `'${is}'`)
      : inequivalent(queue, name, describe(was), describe(is));
  }
}

function isSame(was: unknown, is: unknown): boolean {
  if (was === undefined || is === undefined) return was === is;
  const [one, other] = [fieldTypeOf(was), fieldTypeOf(is)];
  return was === is && (CLASSES[one] ?? one) === (CLASSES[other] ?? other);
}

function isClassic(type: unknown): boolean {
  return type === undefined || type === 'classic';
}

function inequivalent(queue: string, name: string, was: string, is: string): ServerError {
  const text = `inequivalent arg '${name}' for queue '${queue}' in vhost '/': received ${is} but current is ${was}`;
  return new ServerError(406, text, 'QueueDeclare');
}

function describe(value: unknown): string {
  if (value === undefined) return 'none';
  const text = value === null ? 'undefined' : value;
  return `the value '${text}' of type '${fieldTypeOf(value)}'`;
}
