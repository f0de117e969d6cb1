import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinOptions } from '../../../lib/subscribe/bindings';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';
import { SUBSCRIBE_OPTIONS } from '../../../lib/subscribe/option-table';
import { HANDLER, oddValues } from '../fixtures';

function fail(): never {
  throw new Error('unreadable');
}

/** `BAD_INPUT_OPTIONS`: how many cases. `BAD_INPUT_SEED`: which; a failure shows its seed. */
const seed = process.env['BAD_INPUT_SEED'] ? { seed: Number(process.env['BAD_INPUT_SEED']) } : {};

describe('normalize and joinOptions never throw', () => {
  const keys = Object.keys(SUBSCRIBE_OPTIONS);
  const retry = fc.record(
    {
      attempts: fc.anything(),
      backoff: fc.anything(),
      by: fc.oneof(fc.anything(), fc.constant('broker')),
    },
    { requiredKeys: [] },
  );
  const part = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true }),
    fc.constantFrom(-1, 0, 1, 2 ** 53, '1s', '1MiB', 'drop', 'client', true, false),
    fc.func(fc.anything()),
  );
  const names = [
    ...[
      'size',
      'wait',
      'concurrency',
      'limit',
      'per',
      'by',
      'hold',
      'whenStuck',
      'instances',
      'max',
    ],
    ...[
      'routingKey',
      'type',
      'header',
      'queue',
      'stack',
      'queueOptions',
      'waiting',
      'on',
      'arguments',
    ],
    ...[
      'maxAge',
      'maxDeliveries',
      'failures',
      'within',
      'x-queue-type',
      '__proto__',
      'constructor',
    ],
  ];
  const nested = fc.dictionary(fc.constantFrom(...names), part);
  const value = fc.oneof(part, retry, nested);
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
      { numRuns: Number(process.env['BAD_INPUT_OPTIONS'] ?? 300), ...seed },
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
