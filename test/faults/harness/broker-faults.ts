import { allRecovered, type Fault, pause } from './faults';

/** The queue is deleted, with what it holds. */
export const deleteQueue: Fault = async (run) => {
  run.fault();
  run.remove();
  await run.options.management.deleteQueue(run.queue);
  run.remove();
  await allRecovered(run);
};

/** The waiting queues are deleted, with what they hold. */
export const deleteWaitingQueues: Fault = async (run) => {
  run.fault();
  const { management } = run.options;
  run.remove();
  for (const { name } of await management.queues()) {
    if (name.startsWith(`${run.queue}.wait.`)) await management.deleteQueue(name);
  }
  run.remove();
  await allRecovered(run);
};

/** The dead-letter queue is deleted, with what it holds. */
export const deleteDeadLetterQueue: Fault = async (run) => {
  run.fault();
  run.remove();
  await run.options.management.deleteQueue(`${run.queue}.dead`);
  run.remove();
  await allRecovered(run);
};

/** The broker stops gracefully, and starts again. */
export const restart: Fault = async (run) => {
  run.fault();
  await run.options.management.restartNode();
  await allRecovered(run);
};

/**
 * The broker crashes, and starts again. RabbitMQ loses a quorum queue that was declared within the last second, with
 * what it has confirmed: the crash waits until the queues of the services are older.
 */
export const crash: Fault = async (run) => {
  await run.hasRunFor(3_000);
  run.fault();
  await run.options.management.killNode();
  await run.options.management.startNode();
  await allRecovered(run);
};

/** A memory alarm, during which the broker accepts no publishes. */
export const memoryAlarm: Fault = async (run) => {
  run.fault();
  const { management, random } = run.options;
  await management.setMemoryAlarm(true);
  try {
    await pause(random.integer(500, 3_000));
  } finally {
    await management.setMemoryAlarm(false);
  }
  await allRecovered(run);
};

/** The queue whose name has this ending takes no message for a while: it is full and rejects publishes. */
const full =
  (ending: string): Fault =>
  async (run) => {
    run.fault();
    const { management, random } = run.options;
    const pattern = `^${run.queue.replaceAll('.', '\\.')}${ending}$`;
    // A classic queue applies the limit before the overflow, and would drop messages from its head.
    for (const maxLength of [1_000_000, 1]) {
      const definition = { 'max-length': maxLength, overflow: 'reject-publish' };
      await management.setPolicy(run.queue, { pattern, definition, priority: 10 });
    }
    await pause(random.integer(500, 2_500));
    await management.clearPolicy(run.queue);
    await allRecovered(run);
  };

/** The dead-letter queue is full for a while. */
export const fullDeadLetterQueue: Fault = full('\\.dead');

/** The consumed queue is full for a while: for the load, and for retries. */
export const fullQueue: Fault = full('');

/** The services may do nothing any more for a while, and their connections are closed. */
export const noPermissions: Fault = async (run) => {
  run.fault();
  const { management, random } = run.options;
  await management.setPermissions(run.queue, { configure: '^$', write: '^$', read: '^$' });
  await management.closeConnections(({ user }) => user === run.queue);
  await pause(random.integer(500, 2_000));
  await management.setPermissions(run.queue, {});
  await allRecovered(run);
};
