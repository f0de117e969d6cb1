import { afterAll } from 'vitest';
import { management } from './broker';
import { until } from './eventually';

/** Sets a policy for one queue until the end of the test file, and waits until it is applied. */
export async function setPolicy(queue: string, definition: Record<string, unknown>): Promise<void> {
  await management.setPolicy(queue, { pattern: `^${queue.replaceAll('.', '\\.')}$`, definition });
  afterAll(() => management.clearPolicy(queue));
  await until(
    async () =>
      (await management.queues()).some((one) => one.name === queue && one.policy === queue),
    { what: `policy of ${queue}` },
  );
}
