import { describe, expect, it } from 'vitest';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { oddValues } from '../fixtures';

describe('Failed.from', () => {
  it.each(oddValues)('gives %s an origin and leaves it untouched', (_name, make) => {
    const thrown = make();
    const failed = HandlerFailure.from(thrown, 'body');
    expect(failed.origin).toBe('body');
    expect(Object.is(failed.error, thrown)).toBe(true);
  });

  it('leaves an origin that is known', () => {
    const failed = new HandlerFailure('timeout', new Error('x'));
    expect(HandlerFailure.from(failed, 'body')).toBe(failed);
  });

  it('is not deceived by what only looks like a failure', () => {
    const alike = { origin: 'timeout', error: new Error('x') };
    expect(HandlerFailure.from(alike, 'body')).toMatchObject({ origin: 'body', error: alike });
    const inherited = Object.create(HandlerFailure.prototype);
    expect(HandlerFailure.from(inherited, 'body').error).toBe(inherited);
  });
});
