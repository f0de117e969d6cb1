import { describe, expect, it } from 'vitest';
import type { KitSettings } from '../../integration/fixtures/kit';
import { ChildApp } from '../../support/process/child-app';
import { useCompiledFixtures } from '../../support/process/compiled';

/** How long a process may take to end, in ms: 1 s, and time for a machine that does other things. */
const LIMIT = 2_500;

describe('the process of a test ends by itself after close()', () => {
  const fixtures = useCompiledFixtures();

  it.each([
    ['nothing', 'virtual', 0],
    ['retry', 'virtual', 1],
    ['timeout', 'virtual', 0],
    ['drain', 'virtual', 0],
    ['confirm', 'virtual', 0],
    ['retry', 'real', 1],
    ['timeout', 'real', 0],
    ['drain', 'real', 0],
    ['confirm', 'real', 0],
  ] as const)('with a pending %s, on the %s clock', async (pending, clock, settlements) => {
    const settings: KitSettings = { pending, clock };
    const child = new ChildApp(fixtures.pathOf('kit'), { settings });
    expect(await child.exited()).toEqual({ code: 0, signal: null });
    const end = Date.now();
    const [[closing], [closed]] = [child.reported('closing'), child.reported('closed')];
    expect(closing?.text).toBe(`${settlements}`);
    // On the virtual clock the drain itself takes no longer, whatever it waits for.
    const since = clock === 'virtual' ? closing : closed;
    expect(end - (since?.at ?? 0)).toBeLessThan(LIMIT);
    expect(child.reported('unhandledRejection')).toEqual([]);
    expect(child.output).toEqual([]);
  });
});
