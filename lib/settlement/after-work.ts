import type { AfterWork } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import { isThenable } from '../model/thenable';

/**
 * Runs the callbacks of `andAfter`, one after the other; without a promise if none of them takes time.
 * A callback that fails is reported to `failed` and the next one runs. `finished` is called last.
 */
export function runAfterWork(
  work: readonly AfterWork[],
  settlement: Settlement,
  failed: (error: unknown) => void,
  finished: () => void,
): void {
  for (const [index, one] of work.entries()) {
    try {
      const result = one(settlement);
      if (!isThenable(result)) continue;
      const rest = work.slice(index + 1);
      const goOn = (): void => runAfterWork(rest, settlement, failed, finished);
      void Promise.resolve(result).then(undefined, failed).then(goOn);
      return;
    } catch (error) {
      failed(error);
    }
  }
  finished();
}
