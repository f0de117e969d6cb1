import { describe, expect, it } from 'vitest';
import { HandlerFailure } from '../../../lib/pipeline/handler-failure';
import { oddValues } from '../fixtures';

describe('HandlerFailure.from', () => {
  it.each(oddValues)('wraps %s with an origin', (_name, make) => {
    const thrown = make();
    const failed = HandlerFailure.from(thrown, 'body');
    expect(failed.origin).toBe('body');
    expect(Object.is(failed.error, thrown)).toBe(true);
  });

  it('keeps an existing failure', () => {
    const failed = new HandlerFailure('timeout', new Error('x'));
    expect(HandlerFailure.from(failed, 'body')).toBe(failed);
  });

  it('wraps objects that only resemble a failure', () => {
    const similar = { origin: 'timeout', error: new Error('x') };
    expect(HandlerFailure.from(similar, 'body')).toMatchObject({ origin: 'body', error: similar });
    const inherited = Object.create(HandlerFailure.prototype);
    expect(HandlerFailure.from(inherited, 'body').error).toBe(inherited);
  });
});
