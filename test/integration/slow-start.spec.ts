import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { Job, WorkerSettings } from './fixtures/worker';

const NEIGHBOURS = 100;
const ATTEMPTS = 3;

describe('a message that kills its process, among others, with three instances and a prefetch of 50', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  it.each([
    ['at once', {}],
    ['after some work', { ms: 50 }],
  ])(
    'is dead-lettered alone, and costs others one attempt at most: it kills %s',
    async (_when, dies) => {
      const queue = unique('slow-start');
      const subscribe: AcknowledgedOptions = {
        queue,
        queueType: 'quorum',
        prefetch: 50,
        retry: { attempts: ATTEMPTS },
        deadLetter: `${queue}.dead`,
      };
      const settings: WorkerSettings = { url, subscribe, hooks: 'none' };
      const instances: ChildApp[] = [];
      let isRunning = true;
      const start = (): void => {
        const instance = new ChildApp(fixtures.pathOf('worker'), { settings });
        instances.push(instance);
        void instance.exit.then(() => isRunning && start());
      };
      const reported = (event: string) => instances.flatMap((one) => one.reported(event));
      const handled = () => new Set(reported('done').map(({ id }) => id));

      await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
      const others: Job[] = Array.from({ length: NEIGHBOURS }, (_, index) => ({
        id: `${index}`,
        do: 'work',
        ms: 150,
      }));
      const bad: Job = { id: 'bad', do: 'die', ...dies };
      // In the middle of what the first instance receives.
      const jobs: Job[] = [...others.slice(0, 20), bad, ...others.slice(20)];
      for (let count = 1; count <= 3; count += 1) start();
      await until(() => reported('ready').length === 3, { timeoutMs: 20_000 });
      await Promise.all(jobs.map((job) => broker.send(queue, job, { messageId: job.id })));

      try {
        const { properties } = await broker.take(`${queue}.dead`, 40_000);
        expect(properties.messageId).toBe('bad');
        await until(() => handled().size === NEIGHBOURS, { timeoutMs: 20_000 });
      } finally {
        isRunning = false;
      }
      const attemptsOf = (id: string) =>
        reported('started')
          .filter((one) => one.id === id)
          .map(({ attempt }) => Number(attempt));
      expect(attemptsOf('bad').sort()).toEqual([1, 2, 3]);
      expect(Math.max(...others.flatMap(({ id }) => attemptsOf(id)))).toBeLessThanOrEqual(2);
      expect(await broker.ready(`${queue}.dead`)).toBe(0);
      expect(reported('log').some(({ text }) => text?.includes('[slow-start] '))).toBe(true);
    },
  );
});
