import { describe, expect, it } from 'vitest';
import { type HandlerKind, handlerOf } from '../../../../bench/programs/support/handlers.mjs';

function counted(handler: HandlerKind) {
  const counts = { called: 0, succeeded: 0 };
  const handle = handlerOf(
    { handler, messages: 3 },
    {
      called: () => {
        counts.called += 1;
      },
      succeeded: () => {
        counts.succeeded += 1;
      },
    },
  );
  return { handle, counts };
}

describe('the measured handler', () => {
  it('does nothing', () => {
    const { handle, counts } = counted('empty');
    expect(handle({ id: 0 })).toBeUndefined();
    expect(counts).toEqual({ called: 1, succeeded: 1 });
  });

  it('counts a success only once the wait is over', async () => {
    const { handle, counts } = counted('wait');
    const result = handle({ id: 0 });
    expect(counts).toEqual({ called: 1, succeeded: 0 });
    await result;
    expect(counts).toEqual({ called: 1, succeeded: 1 });
  });

  it('fails twice per message, then succeeds once', () => {
    const { handle, counts } = counted('failTwice');
    for (const id of [0, 2]) {
      expect(() => handle({ id })).toThrow();
      expect(() => handle({ id })).toThrow();
      expect(() => handle({ id })).not.toThrow();
    }
    handle({ id: 2 });
    expect(counts).toEqual({ called: 7, succeeded: 2 });
  });

  it('always fails', () => {
    const { handle, counts } = counted('fail');
    for (let call = 0; call < 5; call += 1) expect(() => handle({ id: 0 })).toThrow();
    expect(counts).toEqual({ called: 5, succeeded: 0 });
  });

  it.each(['empty', 'fail'] as const)('detects a message that was not read (%s)', (kind) => {
    const { handle } = counted(kind);
    const unread = Buffer.from('{"id":0}') as unknown as { id: number };
    expect(() => handle(unread)).toThrow('was not read');
  });
});
