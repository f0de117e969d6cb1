import { describe, inject, it } from 'vitest';
import { describeRange, includes, type VersionRange } from './version-range';

/** The version of the server of this test run, `4.3.6` for example. */
export const serverVersion: string = inject('rabbitmq').version ?? unknownVersion();

/** Whether the server of this test run is of one of these versions. */
export function serverIs(range: Omit<VersionRange, 'because'>): boolean {
  return includes({ ...range, because: '' }, serverVersion);
}

/**
 * `it` for a test that is for some versions of RabbitMQ only. On the others it is skipped; its name says which
 * versions it is for, and why.
 *
 * ```ts
 * itOn({ from: '4.3', because: 'a nack counts before' })('is redelivered for ever', async () => {...});
 * ```
 */
export function itOn(range: VersionRange) {
  return (name: string, test: () => Promise<void> | void, timeoutMs?: number): void => {
    it.runIf(includes(range, serverVersion))(`${name} (${describeRange(range)})`, test, timeoutMs);
  };
}

/** `describe` for tests that are for some versions of RabbitMQ only, as `itOn` is `it`. */
export function describeOn(range: VersionRange) {
  return (name: string, tests: () => Promise<void> | void): void => {
    describe.runIf(includes(range, serverVersion))(`${name} (${describeRange(range)})`, tests);
  };
}

function unknownVersion(): never {
  throw new Error('the server of this test run does not report its version');
}
