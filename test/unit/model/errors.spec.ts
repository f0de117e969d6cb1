import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import {
  ChannelLostError,
  HandlerTimeoutError,
  isPanicError,
  Panic,
  SettleStartupError,
  ShutdownError,
} from '../../../lib/model/errors';
import { oddValues } from '../fixtures';

describe('isPanicError', () => {
  it('recognises Panic and its subclasses', () => {
    class LedgerPanic extends Panic {}
    expect(isPanicError(new Panic('two ledgers'))).toBe(true);
    expect(isPanicError(new LedgerPanic('two ledgers', { cause: new Error('why') }))).toBe(true);
  });

  it('recognises a Panic of another copy of the package, also from another realm', () => {
    const code = `
      class Panic extends Error { [Symbol.for('nestjs-settle.panic')] = true; }
      new Panic('two ledgers');
    `;
    const sameRealm = Object.assign(new Error('two ledgers'), {
      [Symbol.for('nestjs-settle.panic')]: true,
    });
    expect(isPanicError(sameRealm)).toBe(true);
    expect(isPanicError(runInNewContext(code))).toBe(true);
  });

  it('does not rely on the name', () => {
    expect(isPanicError(Object.assign(new Error('no'), { name: 'Panic' }))).toBe(false);
    expect(isPanicError(new TypeError('no'))).toBe(false);
  });

  it.each(oddValues)('returns false for %s', (_name, make) => {
    expect(isPanicError(make())).toBe(false);
  });
});

describe('the error classes', () => {
  it.each([
    ['Panic', new Panic('text')],
    ['HandlerTimeoutError', new HandlerTimeoutError('text', 500)],
    ['ChannelLostError', new ChannelLostError('text')],
    ['ShutdownError', new ShutdownError('text')],
    ['SettleStartupError', new SettleStartupError(['text'])],
  ])('%s has its name, message and stack', (name, error) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.message).toBe('text');
    expect(error.stack).toContain('errors.spec.ts');
  });

  it('HandlerTimeoutError has the timeout', () => {
    expect(new HandlerTimeoutError('too long', 500).timeout).toBe(500);
  });

  it('Panic keeps its cause', () => {
    const cause = new Error('why');
    expect(new Panic('two ledgers', { cause }).cause).toBe(cause);
  });
});

describe('SettleStartupError', () => {
  it('has the message of a single fault', () => {
    const error = new SettleStartupError(['Billing.charge: prefetch: found 0']);
    expect(error.message).toBe('Billing.charge: prefetch: found 0');
    expect(error.errors).toEqual([new Error('Billing.charge: prefetch: found 0')]);
  });

  it('lists several faults, one per line, and has an error for each', () => {
    const error = new SettleStartupError(['first', 'second', 'third']);
    expect(error.message).toBe('3 faults:\n- first\n- second\n- third');
    expect(error.errors.map(String)).toEqual(['Error: first', 'Error: second', 'Error: third']);
    expect(error).toBeInstanceOf(AggregateError);
  });
});
