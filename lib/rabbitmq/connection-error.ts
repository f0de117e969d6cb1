import type { RawConnection } from './types';

const errors = new WeakMap<RawConnection, () => unknown>();

/** A function that returns why a connection has closed; `undefined` if it has not, or not said why. */
export function connectionErrorOf(connection: RawConnection): () => unknown {
  const known = errors.get(connection);
  if (known !== undefined) return known;
  let last: unknown;
  const failed = (error: unknown): void => {
    last ??= error;
  };
  // The first comes before the channels close, the second after them; a forced close has the second only.
  connection.on('error', failed);
  connection.on('close', failed);
  const connectionError = (): unknown => last;
  errors.set(connection, connectionError);
  return connectionError;
}

/**
 * Works on a connection. If it closes meanwhile, rejects with the reason instead of amqplib's error of a channel
 * that has ended.
 */
export async function onConnection<T>(
  connection: RawConnection,
  work: () => Promise<T>,
): Promise<T> {
  const connectionError = connectionErrorOf(connection);
  try {
    return await work();
  } catch (error) {
    throw connectionError() ?? error;
  }
}
