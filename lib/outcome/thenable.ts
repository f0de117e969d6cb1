import { messages } from './messages';

/** Whether a value is to be waited for. Throws where its `then` can't be read. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  const isObject = typeof value === 'object' || typeof value === 'function';
  return isObject && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

/**
 * What a predicate of the application has answered.
 * @throws TypeError where that is a promise: nobody waits for it, and a rejection of it is nobody's.
 */
export function answered<T>(answer: T): T {
  if (!isThenable(answer)) return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(messages.answerAtOnce);
}
