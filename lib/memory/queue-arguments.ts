import { comparedArgumentsOf } from '../amqp/compared-arguments';
import { isAtLeast, type ServerVersion } from '../amqp/queue-declarations';
import { texts } from '../log/texts';
import {
  CONSUMER_ARGUMENT_CHECKS,
  checkQueueType,
  QUEUE_ARGUMENT_CHECKS,
  refusalOf,
} from './argument-checks';
import { fieldTypeOf } from './field-values';
import type { QueueProperties } from './queue-properties';
import { type RefusedMethod, ServerError } from './server-error';
import type { Table } from './stored-message';

type Type = 'classic' | 'quorum';

const STREAM = ['x-max-age', 'x-stream-max-segment-size-bytes', 'x-initial-cluster-size'];

/** The type that a declaration asks for. */
export function queueTypeOf({ arguments: args }: QueueProperties): Type {
  return args['x-queue-type'] === 'quorum' ? 'quorum' : 'classic';
}

/** @throws ServerError 406 if no queue of this type can be named by the server. */
export function requireServerNamed(properties: QueueProperties): void {
  if (queueTypeOf(properties) === 'classic') return;
  const text = 'Cannot declare a server-named queue for type rabbit_quorum_queue';
  throw new ServerError(406, text, 'QueueDeclare');
}

/**
 * Checks what a queue is declared with, in the server's order.
 * @throws ServerError with what the server replies.
 */
export function requireValidQueue(
  queue: string,
  properties: QueueProperties,
  version: ServerVersion,
): void {
  const { arguments: args } = properties;
  const where = `queue '${queue}' in vhost '/'`;
  const refuse = (text: string): never => {
    throw new ServerError(406, text, 'QueueDeclare');
  };
  const exchange = args['x-dead-letter-exchange'];
  if (exchange !== undefined && typeof exchange !== 'string') {
    refuse(`invalid type '${fieldTypeOf(exchange)}' for arg 'x-dead-letter-exchange' in ${where}`);
  }
  const typeRefusal = refusalOf(checkQueueType, 'x-queue-type', args, version);
  if (typeRefusal !== undefined) refuse(`invalid arg 'x-queue-type' for ${where}: ${typeRefusal}`);
  if (args['x-queue-type'] === 'stream') refuse(texts.noStreamsInMemory(queue));
  requireValidArguments(queue, args, {
    known: comparedArgumentsOf(queueTypeOf(properties), version),
    others: [
      ...comparedArgumentsOf('classic', version),
      ...comparedArgumentsOf('quorum', version),
      ...STREAM,
    ],
    checks: QUEUE_ARGUMENT_CHECKS,
    type: queueTypeOf(properties),
    version,
    method: 'QueueDeclare',
  });
  if (queueTypeOf(properties) === 'classic') return requirePermitted(args, version);
  if (properties.autoDelete) refuse(`invalid property 'auto-delete' for ${where}`);
  if (properties.exclusive) refuse(`invalid property 'exclusive-owner' for ${where}`);
  if (!properties.durable) refuse(`invalid property 'non-durable' for ${where}`);
}

/**
 * Checks the arguments of a consumer.
 * @throws ServerError 406 with what the server replies.
 */
export function requireValidConsumer(
  queue: string,
  type: Type,
  args: Table,
  version: ServerVersion,
): void {
  const known = ['x-priority'];
  const others = ['x-priority', 'x-stream-offset'];
  if (isAtLeast(version, [4, 3])) {
    others.push('x-consumer-timeout');
    if (type === 'quorum') known.push('x-consumer-timeout');
  }
  if (!isAtLeast(version, [4, 0])) {
    others.push('x-cancel-on-ha-failover');
    if (type === 'classic') known.push('x-cancel-on-ha-failover');
  }
  const checks = CONSUMER_ARGUMENT_CHECKS;
  requireValidArguments(queue, args, {
    known,
    others,
    checks,
    type,
    version,
    method: 'BasicConsume',
  });
}

interface ArgumentRules {
  /** The arguments that the server knows here. */
  readonly known: readonly string[];
  /** Those that it knows anywhere. */
  readonly others: readonly string[];
  readonly checks: typeof QUEUE_ARGUMENT_CHECKS;
  readonly type: Type;
  readonly version: ServerVersion;
  readonly method: RefusedMethod;
}

function requireValidArguments(queue: string, args: Table, rules: ArgumentRules): void {
  const { known, others, checks, type, version, method } = rules;
  for (const [name, check] of Object.entries(checks)) {
    const reason = known.includes(name) ? refusalOf(check, name, args, version) : undefined;
    if (reason === undefined) continue;
    throw new ServerError(
      406,
      `invalid arg '${name}' for queue '${queue}' in vhost '/': ${reason}`,
      method,
    );
  }
  const misplaced = Object.keys(args).find(
    (name) => others.includes(name) && !known.includes(name),
  );
  if (misplaced === undefined) return;
  const text = `invalid arg '${misplaced}' for queue '${queue}' in vhost '/' of queue type rabbit_${type}_queue`;
  throw new ServerError(406, text, method);
}

function requirePermitted(args: Table, version: ServerVersion): void {
  if (args['x-queue-master-locator'] === undefined || !isAtLeast(version, [4, 3])) return;
  const text =
    'Feature `queue_master_locator` is deprecated.\nBy default, this feature is not permitted anymore.';
  throw new ServerError(541, text, 'QueueDeclare');
}
