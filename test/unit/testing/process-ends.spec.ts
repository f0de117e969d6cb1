import { describe, expect, it } from 'vitest';
import type { KitSettings, Pending } from '../../integration/fixtures/kit';
import { ChildApp } from '../../support/process/child-app';
import { useCompiledFixtures } from '../../support/process/compiled';

/** How long a process may take to end, in ms: 1 s, and reserve for a busy machine. */
const LIMIT = 2_500;

describe('close()', () => {
  const fixtures = useCompiledFixtures();

  it.each<[KitSettings['clock'], Readonly<Partial<Record<Pending, number>>>]>([
    ['virtual', { nothing: 0, retry: 1, timeout: 0, handler: 0, confirm: 0 }],
    ['real', { retry: 1, timeout: 0, handler: 0, confirm: 0 }],
  ])('lets the process end, on the %s clock with anything pending', async (clock, settled) => {
    const pending = Object.keys(settled) as Pending[];
    const child = new ChildApp(fixtures.pathOf('kit'), { settings: { clock, pending } });
    expect(await child.exited(10_000)).toEqual({ code: 0, signal: null });
    const end = Date.now();
    const [closing, closed] = [child.reported('closing'), child.reported('closed')];
    const expected = Object.entries(settled).map(([name, count]) => `${name}: ${count}`);
    expect(closing.map(({ text }) => text).sort()).toEqual(expected.sort());
    expect(closed.map(({ text }) => text).sort()).toEqual([...pending].sort());
    // On the virtual clock the shutdown itself takes no time, whatever it waits for.
    const since = clock === 'virtual' ? closing : closed;
    expect(end - Math.max(...since.map(({ at }) => at))).toBeLessThan(LIMIT);
    expect(child.reported('unhandledRejection')).toEqual([]);
    expect(child.output).toEqual([]);
  });
});
