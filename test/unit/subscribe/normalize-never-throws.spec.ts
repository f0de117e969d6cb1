import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinOptions } from '../../../lib/subscribe/bindings';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';
import { HANDLER, oddValues } from '../fixtures';

function fail(): never {
  throw new Error('unreadable');
}

describe('normalize and joinOptions never throw', () => {
  const keys = [
    ...['name', 'connection', 'exchange', 'routingKey', 'bindings', 'queue', 'queueOptions'],
    ...['createQueueIfNotExists', 'deserializer', 'allowNonJsonMessages', 'queueType', 'prefetch'],
    ...[
      'retry',
      'deadLetter',
      'timeout',
      'onError',
      'onPanic',
      'onInvalidPayload',
      'requestScope',
      'noAck',
      'declare',
    ],
  ];
  const retry = fc.record(
    {
      attempts: fc.anything(),
      backoff: fc.anything(),
      by: fc.oneof(fc.anything(), fc.constant('broker')),
    },
    { requiredKeys: [] },
  );
  const value = fc.oneof(fc.anything({ withBigInt: true, withDate: true, withMap: true }), retry);
  const options = fc.dictionary(fc.oneof(fc.constantFrom(...keys), fc.string()), value);

  it('for arbitrary options and defaults, and name the handler in each fault', () => {
    fc.assert(
      fc.property(options, options, (own, defaults) => {
        for (const line of faultsOf(normalize(HANDLER, own as never, defaults as never))) {
          expect(line).toMatch(/^Billing\.charge: .*: .+$/);
        }
        for (const line of faultsOf(normalize(HANDLER, { queue: 'q', ...own } as never))) {
          expect(line).toMatch(/^Billing\.charge: .*: .+$/);
        }
        joinOptions(HANDLER, [
          { queue: 'q', ...own },
          { queue: 'q', ...defaults },
        ] as never);
      }),
      { numRuns: 300 },
    );
  });

  it.each(oddValues)('with %s as any option', (_name, make) => {
    for (const key of keys) {
      const odd = { queue: 'q', [key]: make() } as never;
      for (const line of faultsOf(normalize(HANDLER, odd))) expect(line).toContain(HANDLER);
      normalize(HANDLER, { queue: 'q' }, odd);
    }
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a text', 'billing'],
    ['options whose getters throw', Object.defineProperty({}, 'noAck', { get: fail })],
    ['a proxy whose traps throw', new Proxy({}, { get: fail, has: fail })],
  ])('with %s as options, which is a fault', (_name, options) => {
    expect(faultsOf(normalize(HANDLER, options as never))).toEqual([
      expect.stringMatching(/^Billing\.charge: options: expected an object/),
    ]);
  });
});
