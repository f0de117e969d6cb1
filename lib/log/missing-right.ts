/** A right that a user of RabbitMQ does not have. */
export interface MissingRight {
  /** `configure`, `read` or `write`, or several of them. */
  readonly right: string;
  readonly kind: 'queue' | 'exchange';
  readonly name: string;
  readonly virtualHost: string;
  readonly user: string;
}

const REFUSAL =
  /(?:(configure|read|write) )?access to (queue|exchange) '([^']*)' in vhost '([^']*)' refused for user '([^']*)'/;
/** More than the names in a refusal can be long. */
const LONGEST_REFUSAL = 2_000;

/** The right for want of which RabbitMQ has refused something; `undefined` for any other error. */
export function missingRightOf(error: unknown): MissingRight | undefined {
  if (!(error instanceof Error)) return undefined;
  const message = error.message.slice(0, LONGEST_REFUSAL);
  const [, right, kind, name, virtualHost, user] = REFUSAL.exec(message) ?? [];
  if (name === undefined || virtualHost === undefined || user === undefined) return undefined;
  const isQueue = kind === 'queue';
  return {
    right: right ?? (isQueue ? queueRight(message) : exchangeRight(message)),
    kind: isQueue ? 'queue' : 'exchange',
    name,
    virtualHost,
    user,
  };
}

// Before 3.11 the refusal does not name the right. A queue with a dead-letter exchange has to be readable too.
function queueRight(message: string): string {
  if (message.includes('QueueDeclare')) return 'configure and read';
  return message.includes('QueueBind') ? 'write' : 'read';
}

function exchangeRight(message: string): string {
  return message.includes('QueueBind') ? 'read' : 'write';
}

/**
 * What to grant so that RabbitMQ no longer refuses; `undefined` if it has not refused for want of a right.
 * @param instead what to grant in place of the right and the name in the error.
 */
export function grantText(
  error: unknown,
  instead: Partial<Pick<MissingRight, 'right' | 'name'>> = {},
): string | undefined {
  const missing = missingRightOf(error);
  if (missing === undefined) return undefined;
  const { user, virtualHost, right, kind, name } = { ...missing, ...instead };
  return `Grant user "${user}" of virtual host "${virtualHost}": ${right} on ${kind} "${name}".`;
}
