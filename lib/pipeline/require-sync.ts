import { texts } from '../log/texts';
import { isThenable } from '../model/thenable';

/**
 * The answer of a predicate of the application.
 * @throws TypeError if it is a promise, which nothing awaits and whose rejection nothing would handle.
 */
export function requireSync<T>(answer: T): T {
  if (!isThenable(answer)) return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(texts.predicateReturnedPromise);
}
