/** Whether a value is to be awaited. Throws if its `then` can't be read. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = typeof value === 'object' || typeof value === 'function';
  return isObject && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
