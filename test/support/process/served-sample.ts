import { expect } from 'vitest';
import { eventually, until } from '../eventually';
import type { startSample } from './sample';

/** How long the sample may take to shut down, in ms. */
const SHUTDOWN_LIMIT = 10_000;

interface State {
  readonly allow: readonly string[];
  readonly subscriptions: readonly { deadLetter?: string; dead?: number }[];
  readonly tasks: readonly { id: number; isRunning: boolean; result?: unknown }[];
}

/** The environment in which `--serve` listens on a free port. */
export const onFreePort = { PORT: '0' } as const;

/**
 * Uses the page of a sample that runs with `--serve` as a browser does: its files, a replay through its API; then
 * ends it with SIGTERM.
 */
export async function useServedSample(sample: ReturnType<typeof startSample>): Promise<void> {
  await sample.prints('The console: ');
  const url = /The console: (\S+)/.exec(sample.output())?.[1] ?? '';
  const headers = { 'x-settle-console': '1', 'content-type': 'application/json' };
  const json = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    const response = await fetch(url + path, { headers, ...init });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return JSON.parse(text);
  };

  const page = await fetch(url);
  expect(page.status).toBe(200);
  const assets = [...(await page.text()).matchAll(/"\.\/settle(\/assets\/[\w.-]+)"/g)];
  expect(assets.length).toBeGreaterThan(2);
  for (const [, path] of assets) expect((await fetch(url + path)).status).toBe(200);

  const state = async (): Promise<State> => (await json('/api/state')) as State;
  const dead = await eventually(async () => {
    const found = (await state()).subscriptions.find((one) => (one.dead ?? 0) > 0);
    if (found?.deadLetter === undefined) throw new Error('no dead letters yet');
    return found.deadLetter;
  });
  const queue = JSON.stringify(['', dead]);
  const list = (await json(`/api/dead-letters?queue=${encodeURIComponent(queue)}`)) as {
    letters: { id: string }[];
  };
  const ids = [list.letters[0]?.id];
  const task = (await json('/api/dead-letters/replay', {
    method: 'POST',
    body: JSON.stringify({ queue, ids }),
  })) as { id: number };
  await until(async () => {
    const ended = (await state()).tasks.find(({ id }) => id === task.id);
    if (ended === undefined || ended.isRunning) return false;
    expect(ended.result).toMatchObject({ replayed: 1, failed: 0, ended: 'complete' });
    return true;
  });

  const started = performance.now();
  sample.child.kill('SIGTERM');
  expect(await sample.ended).toBe(0);
  expect(performance.now() - started).toBeLessThan(SHUTDOWN_LIMIT);
}
