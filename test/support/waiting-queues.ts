import { management } from './broker';

/**
 * The names of a queue's waiting queues, sorted. The queues by which a startup finds out whether it may declare them
 * are left out: RabbitMQ's HTTP API lists them for a while after they are deleted.
 */
export async function waitingQueuesOf(
  queue: string,
  type: 'classic' | 'quorum',
): Promise<string[]> {
  const delay = /^\.(waitq?)\.\d{1,11}$/;
  const infix = type === 'classic' ? 'wait' : 'waitq';
  return (await management.queues())
    .map(({ name }) => name)
    .filter((name) => name.startsWith(queue) && delay.exec(name.slice(queue.length))?.[1] === infix)
    .sort();
}
