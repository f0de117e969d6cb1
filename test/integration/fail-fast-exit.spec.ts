import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { WorkerSettings } from './fixtures/worker';

const AS_PID_1 = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'] as const;

function canBePid1(): boolean {
  try {
    const [command, ...args] = AS_PID_1;
    return execFileSync(command, [...args, 'sh', '-c', 'echo $$'], { stdio: 'pipe' })
      .toString()
      .startsWith('1');
  } catch {
    return false;
  }
}

const byCode = { code: 1, signal: null } as const;

describe('failFast exits the process', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  function start(settings: Omit<WorkerSettings, 'url'>, wrapper: readonly string[] = []): ChildApp {
    return new ChildApp(fixtures.pathOf('worker'), {
      settings: { url, ...settings } satisfies WorkerSettings,
      wrapper,
    });
  }

  /** Four good messages, a bad one, three more behind it. */
  async function filledQueue(): Promise<string> {
    const queue = unique('panic');
    await broker.declare(queue);
    for (const id of ['1', '2', '3', '4']) await broker.send(queue, { id, do: 'work', ms: 500 });
    await broker.send(queue, { id: 'bad', do: 'panic' }, { messageId: 'm-bad' });
    for (const id of ['6', '7', '8']) await broker.send(queue, { id, do: 'work', ms: 500 });
    return queue;
  }

  async function expectExit(
    settings: Omit<WorkerSettings, 'url' | 'subscribe'>,
    wrapper?: readonly string[],
  ): Promise<ChildApp> {
    const queue = await filledQueue();
    const child = start({ ...settings, subscribe: { queue, prefetch: 5 } }, wrapper);
    expect(await child.exited()).toEqual(byCode);
    expect(child.reported('started').map(({ id }) => id)).toEqual(['1', '2', '3', '4', 'bad']);
    expect(child.reported('done').map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    await broker.waitForReady(queue, 4);
    const errors = child.reported('log').filter(({ level, text }) => {
      return level === 'error' && text?.includes('m-bad');
    });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.stack).toMatch(/TypeError: [\s\S]*worker/);
    expect(child.reported('unhandledRejection')).toEqual([]);
    return child;
  }

  it.each([
    { hooks: 'signal', http: false },
    { hooks: 'signal', http: true },
    { hooks: 'processExit', http: false },
    { hooks: 'processExit', http: true },
    { hooks: 'none', http: false },
    { hooks: 'none', http: true },
  ] as const)('with hooks $hooks, HTTP server $http', async ({ hooks, http }) => {
    await expectExit({ hooks, http });
  });

  // Needs the permission to create a process namespace.
  it.skipIf(!canBePid1()).each([
    { hooks: 'signal', http: false },
    { hooks: 'signal', http: true },
    { hooks: 'processExit', http: true },
    { hooks: 'none', http: true },
  ] as const)('as PID 1 with hooks $hooks, HTTP server $http', async ({ hooks, http }) => {
    await expectExit({ hooks, http }, AS_PID_1);
  });

  it('also when onFailFast throws', async () => {
    const child = await expectExit({ hooks: 'none', onFailFastThrows: true });
    expect(child.reported('log').filter(({ text }) => text?.includes('onFailFast'))).toHaveLength(
      1,
    );
  });

  it('at each start on a classic queue, until a policy moves the message away', async () => {
    const queue = unique('crash-loop');
    await broker.declare(queue);
    await broker.send(queue, { id: 'bad', do: 'panic' }, { messageId: 'm-bad' });
    for (const id of ['1', '2', '3', '4', '5']) await broker.send(queue, { id, do: 'work' });
    for (let run = 1; run <= 4; run += 1) {
      const child = start({ hooks: 'signal', subscribe: { queue, prefetch: 1 } });
      expect(await child.exited(10_000)).toEqual(byCode);
      const lines = child.reported('log').filter(({ level }) => level === 'error');
      expect(lines.map(({ text }) => text)).toEqual([
        expect.stringMatching(/\[fail-fast\] message "m-bad"/),
        '[exit] Worker.work failed fast; exiting with code 1.',
      ]);
      expect(child.reported('started').map(({ id }) => id)).toEqual(['bad']);
      await broker.waitForReady(queue, 6);
    }
    const onPanic = 'failFastOnce';
    const subscribe = { queue, prefetch: 1, onPanic, deadLetter: `${queue}.dead` } as const;
    const child = start({ hooks: 'signal', subscribe });
    await child.waitFor('done', 5);
    child.signal('SIGTERM');
    await child.exited();
    expect(child.reported('started').map(({ id }) => id)).toEqual(['bad', '1', '2', '3', '4', '5']);
    expect((await broker.take(`${queue}.dead`)).properties.messageId).toBe('m-bad');
    expect(await broker.ready(queue)).toBe(0);
  }, 60_000);
});
