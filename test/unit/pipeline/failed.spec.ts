import { describe, expect, it } from 'vitest';
import { Failed } from '../../../lib/pipeline/failed';
import { oddValues } from '../fixtures';

describe('Failed.from', () => {
  it.each(oddValues)('gives %s an origin and leaves it untouched', (_name, make) => {
    const thrown = make();
    const failed = Failed.from(thrown, 'body');
    expect(failed.origin).toBe('body');
    expect(Object.is(failed.error, thrown)).toBe(true);
  });

  it('leaves an origin that is known', () => {
    const failed = new Failed('timeout', new Error('x'));
    expect(Failed.from(failed, 'body')).toBe(failed);
  });

  it('is not deceived by what only looks like a failure', () => {
    const alike = { origin: 'timeout', error: new Error('x') };
    expect(Failed.from(alike, 'body')).toMatchObject({ origin: 'body', error: alike });
    const inherited = Object.create(Failed.prototype);
    expect(Failed.from(inherited, 'body').error).toBe(inherited);
  });
});
