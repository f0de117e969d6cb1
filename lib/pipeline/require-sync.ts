import { isThenable } from '../model/thenable';

/**
 * The answer of a predicate or policy of the application.
 * @throws TypeError with the text `refusal` if it is a promise, which nothing awaits and whose rejection
 * nothing would handle.
 */
export function requireSync<T>(answer: T, refusal: string): T {
  if (!isThenable(answer)) return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(refusal);
}
