import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Random } from '../faults/harness/random';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { OrderedSettings } from './fixtures/ordered';

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** What fails, and when instances end: the seed that `ORDER_SEED` gives, or a new one; the names of the tests have it. */
const GIVEN = process.env['ORDER_SEED'];
const SEED = GIVEN === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(GIVEN);
/** How often an instance is stopped and another one killed: with a given seed more often, and the run is summed up. */
const ROUNDS = GIVEN === undefined ? 1 : 3;

describe('order by key over three instances', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  it.each<['classic' | 'quorum']>([['classic'], ['quorum']])(
    `messages of a key succeed in the order of publishing, through retries, kills and rolling restarts (%s, seed ${SEED})`,
    async (queueType) => {
      const queue = unique('ordered');
      const settings: OrderedSettings = { url, queue, queueType, seed: SEED };
      const random = new Random(SEED);
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
      const gap = random.integer(20, 50);
      const publishing = (async () => {
        while (!isOver) {
          const number = ofEach + 1;
          for (const key of KEYS) await broker.send(queue, { key, number }, { headers: { key } });
          ofEach = number;
          await sleep(gap);
        }
      })();
      const first = random.pick(['SIGTERM', 'SIGKILL'] as const);
      const ends = [first, first === 'SIGTERM' ? 'SIGKILL' : 'SIGTERM'] as const;
      for (const end of Array.from({ length: ROUNDS }, () => ends).flat()) {
        const before = uniqueDone();
        const progress = random.integer(40, 80);
        await until(() => uniqueDone() >= before + progress, {
          timeoutMs: 20_000,
          what: 'progress',
        });
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
      if (GIVEN === undefined) return;
      const runs = children.flatMap((child) => child.reported('begun')).length;
      console.log(
        `${queueType}: seed ${SEED}, ${instances} instances, ${KEYS.length * ofEach} messages, ${runs} runs, ` +
          `${inTime.length - uniqueDone()} duplicates, in order`,
      );
    },
    90_000 * ROUNDS,
  );
});

function lastDone(child: ChildApp): number {
  return child.reported('done').at(-1)?.at ?? 0;
}
