import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { OrderedSettings } from './fixtures/ordered';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('order by key over three instances', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    'messages of a key succeed in the order of publishing, through retries, kills and rolling restarts (%s)',
    async (queueType) => {
      const queue = unique('ordered');
      const settings: OrderedSettings = { url, queue, queueType };
      const children: ChildApp[] = [];
      const start = async (): Promise<ChildApp> => {
        const child = new ChildApp(fixtures.pathOf('ordered'), { settings });
        children.push(child);
        await child.waitFor('ready');
        return child;
      };
      const done = () => children.flatMap((child) => child.reported('done'));
      const uniqueDone = (): number => new Set(done().map(({ id }) => id)).size;
      /** The instance that is consuming. */
      const active = (alive: readonly ChildApp[]): ChildApp | undefined =>
        [...alive].sort((one, other) => lastDone(other) - lastDone(one))[0];

      let alive = [await start(), await start(), await start()];
      let isOver = false;
      let ofEach = 0;
      const publishing = (async () => {
        while (!isOver) {
          const number = ofEach + 1;
          for (const key of KEYS) await broker.send(queue, { key, number }, { headers: { key } });
          ofEach = number;
          await sleep(40);
        }
      })();
      for (const end of ['SIGTERM', 'SIGKILL'] as const) {
        const before = uniqueDone();
        await until(() => uniqueDone() >= before + 60, { timeoutMs: 20_000, what: 'progress' });
        const ended = active(alive);
        ended?.signal(end);
        await ended?.exited();
        alive = [...alive.filter((child) => child !== ended), await start()];
      }
      isOver = true;
      await publishing;
      await until(() => uniqueDone() === KEYS.length * ofEach, {
        timeoutMs: 30_000,
        what: 'all messages',
      });
      const inTime = done().sort((one, other) => one.at - other.at);
      const instances = children.filter((child) => child.reported('done').length > 0).length;
      expect(instances).toBeGreaterThanOrEqual(3);
      for (const key of KEYS) {
        const numbers = inTime
          .map(({ id = '' }) => id.split(':'))
          .filter(([of]) => of === key)
          .map(([, number]) => Number(number));
        // What was handled, but not acknowledged when its process was killed, is handled again.
        const firsts = [...new Set(numbers)];
        expect(firsts).toEqual(Array.from({ length: ofEach }, (_, index) => index + 1));
      }
    },
    90_000,
  );
});

function lastDone(child: ChildApp): number {
  return child.reported('done').at(-1)?.at ?? 0;
}
