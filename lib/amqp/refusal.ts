/** The reply code of a server's error; `undefined` where the server did not speak. */
export function replyCodeOf(error: unknown): number | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'number' ? code : undefined;
}

/** Whether the server says that a queue or exchange does not exist. */
export function isNotFound(error: unknown): boolean {
  return replyCodeOf(error) === 404;
}

/** Whether the server says that a queue exists, but on a node that is down. */
export function isUnavailable(error: unknown): boolean {
  return isNotFound(error) && !/ - no queue /.test((error as Error).message);
}

/**
 * Whether the server says that the user lacks a right. A queue that another consumer or connection holds for
 * itself has the same code.
 */
export function isForbidden(error: unknown): boolean {
  return replyCodeOf(error) === 403 && !/exclusive (use|access)/i.test((error as Error).message);
}

/** Whether the server says that what exists has other arguments. */
export function isInequivalent(error: unknown): boolean {
  return replyCodeOf(error) === 406;
}

/**
 * Whether the server has ended the whole connection over a feature that it no longer permits. An internal
 * error, which has the same code, may pass.
 */
export function forbidsAFeature(error: unknown): boolean {
  return replyCodeOf(error) === 541 && /Feature `[^`]+` is deprecated/.test(String(error));
}

/** Whether the server has closed a channel over a message that it does not accept. */
export function isMessageRefusal(error: unknown): boolean {
  const code = replyCodeOf(error);
  return code === 311 || code === 406;
}

/** Whether the server has refused a message that is larger than its `max_message_size`. */
export function isTooLarge(error: unknown): boolean {
  return isMessageRefusal(error) && /message size .* larger than/i.test(String(error));
}

/** The `max_message_size` in bytes over which the server has refused a message; `undefined` if it does not say. */
export function largestSizeOf(error: unknown): number | undefined {
  const [, size] = /larger than configured max size (\d+)/i.exec(String(error)) ?? [];
  return isTooLarge(error) && size !== undefined ? Number(size) : undefined;
}

/**
 * Whether the server refuses what a subscription declares or asks for, so that trying again changes
 * nothing by itself: no such queue or exchange, other arguments, no permission. A queue that another
 * consumer or connection holds for itself is not refused but taken: it may be free later.
 */
export function isRefusal(error: unknown): boolean {
  const code = replyCodeOf(error);
  return code === 404 || code === 406 || isForbidden(error);
}
