const NAMES: Readonly<Record<number, string>> = {
  403: 'ACCESS_REFUSED',
  404: 'NOT_FOUND',
  405: 'RESOURCE_LOCKED',
  406: 'PRECONDITION_FAILED',
};

/** The methods whose refusal amqplib names. */
export type RefusedMethod =
  | 'QueueDeclare'
  | 'QueueBind'
  | 'ExchangeDeclare'
  | 'ExchangeBind'
  | 'BasicConsume'
  | 'BasicPublish';

/** What a server answers when it refuses: the reply code beside the text, as amqplib gives both. */
export class ServerError extends Error {
  constructor(
    readonly code: number,
    text: string,
    method: RefusedMethod,
  ) {
    const name = NAMES[code] ?? '';
    const reply = `${code} (${name.replace('_', '-')}) with message "${name} - ${text}"`;
    // A publish has no answer of its own: what comes is the end of the channel.
    const isAnswered = method !== 'BasicPublish';
    super(`${isAnswered ? `Operation failed: ${method};` : 'Channel closed by server:'} ${reply}`);
  }
}

/** The refusal of a queue that is not there. */
export function noQueue(name: string, method: RefusedMethod): ServerError {
  return new ServerError(404, `no queue '${name}' in vhost '/'`, method);
}

/** The refusal of an exchange that is not there. */
export function noExchange(name: string, method: RefusedMethod): ServerError {
  return new ServerError(404, `no exchange '${name}' in vhost '/'`, method);
}
