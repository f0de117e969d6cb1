import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { EndingSettings } from './fixtures/ending';

const HOOKS = ['onModuleDestroy', 'beforeApplicationShutdown', 'onApplicationShutdown'] as const;

describe('failFast', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  function start(settings: Omit<EndingSettings, 'url'>): ChildApp {
    const full: EndingSettings = { url, ...settings };
    return new ChildApp(fixtures.pathOf('ending'), { settings: full });
  }

  const hooksOf = (child: ChildApp): (string | undefined)[] =>
    child.reported('hook').map(({ id }) => id);

  /** An application that has got a message with a bug. */
  async function failing(settings: Omit<EndingSettings, 'url' | 'queue'>): Promise<ChildApp> {
    const queue = unique('bug');
    const child = start({ queue, ...settings });
    await child.waitFor('ready');
    await broker.send(queue, { panics: true });
    return child;
  }

  it.each<[string, Omit<EndingSettings, 'url' | 'queue'>]>([
    ['no shutdown hooks', {}],
    ['all shutdown hooks', { signals: [] }],
    ['shutdown hooks for SIGTERM', { signals: ['SIGTERM'] }],
    ['shutdown hooks for SIGINT', { signals: ['SIGINT'] }],
    ['shutdown hooks that end by an exit', { signals: [], useProcessExit: true }],
  ])('closes the application and exits with code 1: %s', async (_which, settings) => {
    const child = await failing(settings);
    expect(await child.exited()).toEqual({ code: 1, signal: null });
    expect(hooksOf(child)).toEqual(HOOKS);
  });

  it('closes the HTTP server before the last hooks', async () => {
    const child = await failing({ signals: [], http: true });
    expect(await child.exited()).toEqual({ code: 1, signal: null });
    const [first, second, last] = HOOKS;
    expect(hooksOf(child)).toEqual([first, second, 'HTTP server', last]);
  });

  it('exits with code 1 also where a shutdown hook throws, and says so', async () => {
    const child = await failing({ hook: 'throws' });
    expect(await child.exited()).toEqual({ code: 1, signal: null });
    expect(hooksOf(child)).toEqual(HOOKS.slice(0, 2));
    const lines = child.reported('log').filter(({ text }) => text?.includes('[exit]'));
    expect(lines.map(({ text }) => text)).toEqual([
      expect.stringContaining('failed fast'),
      expect.stringContaining('a shutdown hook failed'),
    ]);
  });

  it('leaves the exit to onFailFast, which can close the application', async () => {
    const child = await failing({ signals: [], onFailFast: 'closes' });
    expect(await child.exited()).toEqual({ code: 7, signal: null });
    expect(hooksOf(child)).toEqual(HOOKS);
  });

  it('calls no hook twice where onFailFast closes the application and then throws', async () => {
    const child = await failing({ onFailFast: 'closes and throws' });
    expect(await child.exited()).toEqual({ code: 1, signal: null });
    expect(hooksOf(child)).toEqual(HOOKS);
  });

  it('in a worker thread ends that thread only', async () => {
    const [main, bad, good] = [unique('main'), unique('bad'), unique('good')];
    const child = start({
      queue: main,
      threads: [
        { url, queue: bad, signals: [] },
        { url, queue: good, signals: [] },
      ],
    });
    await child.waitFor('ready', 3);
    await broker.send(bad, { panics: true });
    await child.waitFor('thread exit');
    expect(child.reported('thread exit')).toMatchObject([{ id: bad, text: '1' }]);
    expect(hooksOf(child)).toEqual(HOOKS);
    for (const queue of [main, good]) await broker.send(queue, {});
    await child.waitFor('handled', 2);
    expect(child.reported('exit')).toEqual([]);
  });
});
