/** Whether a value is to be waited for. Throws where its `then` can't be read. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = typeof value === 'object' || typeof value === 'function';
  return isObject && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
