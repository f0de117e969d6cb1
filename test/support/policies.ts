import { afterAll } from 'vitest';
import { management } from './broker';
import { until } from './eventually';

/** Gives a queue a policy of its own for the time of a test file, and waits until it has it. */
export async function setPolicy(queue: string, definition: Record<string, unknown>): Promise<void> {
  await management.setPolicy(queue, { pattern: `^${queue.replaceAll('.', '\\.')}$`, definition });
  afterAll(() => management.clearPolicy(queue));
  await until(
    async () =>
      (await management.queues()).some((one) => one.name === queue && one.policy === queue),
    { what: `policy of ${queue}` },
  );
}
