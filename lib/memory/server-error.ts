const NAMES: Readonly<Record<number, string>> = {
  403: 'ACCESS_REFUSED',
  404: 'NOT_FOUND',
  405: 'RESOURCE_LOCKED',
  406: 'PRECONDITION_FAILED',
  503: 'COMMAND_INVALID',
  541: 'INTERNAL_ERROR',
};

/** The reply codes with which RabbitMQ closes a whole connection. */
const CLOSES_CONNECTION: readonly number[] = [503, 541];

/** The methods whose refusal amqplib names. */
export type RefusedMethod =
  | 'QueueDeclare'
  | 'QueueBind'
  | 'ExchangeDeclare'
  | 'ExchangeBind'
  | 'BasicConsume'
  | 'BasicPublish';

/** A server's refusal: its reply code and its text, as amqplib gives both. */
export class ServerError extends Error {
  constructor(
    readonly code: number,
    text: string,
    method: RefusedMethod,
  ) {
    const name = NAMES[code] ?? '';
    const message = text === '' ? name : `${name} - ${text}`;
    const reply = `${code} (${name.replace('_', '-')}) with message "${message}"`;
    super(`${prefixOf(code, method)} ${reply}`);
  }
}

function prefixOf(code: number, method: RefusedMethod): string {
  if (CLOSES_CONNECTION.includes(code)) return 'Connection closed:';
  // A publish has no reply of its own: the channel closes.
  return method === 'BasicPublish' ? 'Channel closed by server:' : `Operation failed: ${method};`;
}

/** The refusal of a queue that does not exist. */
export function noQueue(name: string, method: RefusedMethod): ServerError {
  return new ServerError(404, `no queue '${name}' in vhost '/'`, method);
}

/** The refusal of an exchange that does not exist. */
export function noExchange(name: string, method: RefusedMethod): ServerError {
  return new ServerError(404, `no exchange '${name}' in vhost '/'`, method);
}

/** The refusal of a name that only the server itself uses. */
export function reservedName(what: string, name: string, method: RefusedMethod): ServerError {
  return new ServerError(403, `${what} name '${name}' contains reserved prefix 'amq.*'`, method);
}

/** The refusal of a queue that belongs to another connection. */
export function lockedQueue(name: string, method: RefusedMethod): ServerError {
  const text = `cannot obtain exclusive access to locked queue '${name}' in vhost '/'. It could be originally declared on another connection or the exclusive property value does not match that of the original declaration.`;
  return new ServerError(405, text, method);
}

/** The refusal of whatever needs an exchange with a name. */
export function defaultExchangeRefused(method: RefusedMethod): ServerError {
  return new ServerError(403, 'operation not permitted on the default exchange', method);
}
