import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { WorkerSettings } from './fixtures/worker';

const MESSAGES = 500;
const PREFETCH = 5;

describe('a signal under load', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  it.each([
    { hooks: 'signal', exit: { code: null, signal: 'SIGTERM' } },
    { hooks: 'processExit', exit: { code: 0, signal: null } },
  ] as const)('leaves nothing half done: hooks $hooks', async ({ hooks, exit }) => {
    const queue = unique('load');
    await broker.declare(queue);
    for (let n = 1; n <= MESSAGES; n += 1) {
      await broker.send(queue, { id: `m${n}`, do: 'work', ms: 200 });
    }
    const child = new ChildApp(fixtures.pathOf('worker'), {
      settings: {
        url,
        subscribe: { queue, prefetch: PREFETCH },
        hooks,
      } satisfies WorkerSettings,
    });
    // In the middle of a turn: some handlers have finished, some are running.
    await child.waitFor('done', 2 * PREFETCH + 1);
    child.signal('SIGTERM');
    expect(await child.exited()).toEqual(exit);

    const names = child.events.map(({ event }) => event);
    expect(names.slice(names.indexOf('signal'))).not.toContain('started');
    const started = child.reported('started').map(({ id }) => id);
    const done = child.reported('done').map(({ id }) => id);
    expect(done.slice().sort()).toEqual(started.slice().sort());
    await broker.waitForReady(queue, MESSAGES - started.length);

    const left = await drainQueue(queue);
    expect(started.filter((id) => left.ids.has(id))).toEqual([]);
    // Only messages already delivered can have been in flight.
    expect(left.redelivered).toBeLessThanOrEqual(PREFETCH);
    const complaints = child.reported('log').filter(({ level }) => level !== 'log');
    expect(complaints).toEqual([]);
    expect(child.reported('unhandledRejection')).toEqual([]);
  });

  /** Takes all messages out of a queue. */
  async function drainQueue(
    queue: string,
  ): Promise<{ readonly ids: ReadonlySet<unknown>; readonly redelivered: number }> {
    return broker.channel(async (channel) => {
      const ids = new Set<unknown>();
      let redelivered = 0;
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return { ids, redelivered };
        ids.add((JSON.parse(message.content.toString()) as { id: string }).id);
        if (message.fields.redelivered) redelivered += 1;
      }
    });
  }
});
