import { describe, expect, it } from 'vitest';
import { grantText, missingRightOf } from '../../../lib/log/missing-right';

function refusal(operation: string, what: string): Error {
  const text = `ACCESS_REFUSED - ${what} in vhost '/' refused for user 'app'`;
  return new Error(`${operation}; 403 (ACCESS-REFUSED) with message "${text}"`);
}

const declared = 'Operation failed: QueueDeclare';
const bound = 'Operation failed: QueueBind';
const consumed = 'Operation failed: BasicConsume';
const closed = 'Channel closed by server: 403 (ACCESS-REFUSED)';

describe('missingRightOf', () => {
  it.each([
    ['a release that names the right', declared, "read access to queue 'q'", 'read on queue "q"'],
    ['a declaration', declared, "access to queue 'q'", 'configure and read on queue "q"'],
    ['a dead-letter exchange', declared, "access to exchange 'x'", 'write on exchange "x"'],
    ['a binding of a queue', bound, "access to queue 'q'", 'write on queue "q"'],
    ['a binding to an exchange', bound, "access to exchange 'x'", 'read on exchange "x"'],
    ['a consumer', consumed, "access to queue 'q'", 'read on queue "q"'],
    ['a message', closed, "access to exchange 'amq.default'", 'write on exchange "amq.default"'],
  ])('reads the refusal of %s', (_what, operation, text, expected) => {
    const grant = `Grant user "app" of virtual host "/": ${expected}.`;
    expect(grantText(refusal(operation, text))).toBe(grant);
  });

  it.each([
    ['another error', new Error('404 (NOT-FOUND)')],
    ['what is no error', "access to queue 'q' in vhost '/' refused for user 'u'"],
    ['nothing', undefined],
  ])('finds no right in %s', (_what, error) => {
    expect([missingRightOf(error), grantText(error)]).toEqual([undefined, undefined]);
  });

  it('reads a long text in no time', () => {
    const error = new Error("access to queue '".repeat(100_000));
    const start = performance.now();
    expect(missingRightOf(error)).toBeUndefined();
    expect(performance.now() - start).toBeLessThan(200);
  });
});
