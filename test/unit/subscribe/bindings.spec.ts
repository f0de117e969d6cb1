import { describe, expect, it } from 'vitest';
import { fixed } from '../../../lib/model/backoff';
import type { SubscribeOptions } from '../../../lib/model/options';
import { bindingsOf, joinOptions } from '../../../lib/subscribe/bindings';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';

const HANDLER = 'Billing.charge';
const long = 'ü'.repeat(128);

function faults(options: Readonly<Record<string, unknown>>): readonly string[] {
  return faultsOf(normalize(HANDLER, options));
}

describe('bindingsOf', () => {
  it('returns one binding per routing key, in order, then those of bindings', () => {
    const bindings = bindingsOf({
      exchange: 'orders',
      routingKey: ['b', 'a'],
      bindings: [{ exchange: 'refunds', routingKey: '#' }],
    });
    expect(bindings).toEqual([
      { exchange: 'orders', routingKey: 'b' },
      { exchange: 'orders', routingKey: 'a' },
      { exchange: 'refunds', routingKey: '#' },
    ]);
  });

  it('distinguishes the empty key, no key and exchanges, and removes duplicates', () => {
    const bindings = bindingsOf({
      exchange: 'orders',
      routingKey: ['', 'a', 'a'],
      bindings: [
        { exchange: 'orders', routingKey: 'a' },
        { exchange: 'orders' } as never,
        { exchange: 'orders' } as never,
        { exchange: 'refunds', routingKey: 'a' },
      ],
    });
    expect(bindings).toEqual([
      { exchange: 'orders', routingKey: '' },
      { exchange: 'orders', routingKey: 'a' },
      { exchange: 'orders', routingKey: undefined },
      { exchange: 'refunds', routingKey: 'a' },
    ]);
  });

  it('accepts a list of one key', () => {
    expect(bindingsOf({ exchange: 'orders', routingKey: ['a'] })).toEqual([
      { exchange: 'orders', routingKey: 'a' },
    ]);
  });

  it('binds without a key if there is only an exchange', () => {
    expect(bindingsOf({ exchange: 'orders' })).toEqual([
      { exchange: 'orders', routingKey: undefined },
    ]);
  });

  it('returns none without an exchange', () => {
    expect(bindingsOf({ queue: 'q' })).toEqual([]);
    expect(bindingsOf({ queue: 'q', exchange: '' })).toEqual([]);
  });

  it('ignores other properties of a binding', () => {
    const binding = { exchange: 'orders', routingKey: 'a', arguments: { x: 1 } };
    expect(bindingsOf({ bindings: [binding] })).toEqual([{ exchange: 'orders', routingKey: 'a' }]);
  });
});

describe('the faults of bindings', () => {
  it.each<[option: string, found: string, options: Record<string, unknown>]>([
    ['exchange', 'undefined', { queue: 'q', routingKey: 'order.paid' }],
    ['exchange', "''", { queue: 'q', routingKey: 'order.paid', exchange: '' }],
    ['exchange', "'ü", { queue: 'q', exchange: long }],
    ['exchange', '5', { queue: 'q', exchange: 5 }],
    ['exchange', "''", { queue: 'q', bindings: [{ exchange: '', routingKey: 'a' }] }],
    ['exchange', 'undefined', { queue: 'q', bindings: [{ routingKey: 'a' }] }],
    ['exchange', 'undefined', { queue: 'q', bindings: [null] }],
    ['routingKey', "'ü", { queue: 'q', exchange: 'x', routingKey: long }],
    ['routingKey', "'ü", { queue: 'q', exchange: 'x', routingKey: ['a', long] }],
    ['routingKey', '5', { queue: 'q', exchange: 'x', routingKey: 5 }],
    ['routingKey', '[]', { queue: 'q', exchange: 'x', routingKey: [] }],
    ['routingKey', 'null', { queue: 'q', bindings: [{ exchange: 'x', routingKey: null }] }],
    ['bindings', '5', { queue: 'q', bindings: 5 }],
    ['bindings', '{ exchange', { queue: 'q', bindings: { exchange: 'x', routingKey: 'a' } }],
    ['queue', 'undefined', {}],
    ['queue', 'undefined', { bindings: [] }],
  ])('name %s and the value %s', (option, found, options) => {
    const start = `${HANDLER}: ${option}: expected `;
    const matching = faults(options).filter((line) => line.startsWith(start));
    expect(matching).toEqual([expect.stringContaining(`; found ${found}`)]);
  });

  it('do not include names of 255 bytes', () => {
    const name = `${'ü'.repeat(127)}x`;
    expect(faults({ queue: 'q', exchange: name, routingKey: name })).toEqual([]);
  });

  it('do not include an empty routing key', () => {
    expect(faults({ queue: 'q', exchange: 'x', routingKey: '' })).toEqual([]);
  });
});

describe('joinOptions', () => {
  const join = (...list: SubscribeOptions[]) => joinOptions(HANDLER, list);

  it('returns a single @Subscribe unchanged', () => {
    const options = { queue: 'q', exchange: 'x' };
    expect(join(options)).toEqual({ groups: [options], faults: [] });
  });

  it('joins several on one queue into one subscription with all bindings', () => {
    const { groups, faults } = join(
      { queue: 'q', exchange: 'orders', routingKey: ['a', 'b'], prefetch: 5 },
      { queue: 'q', exchange: 'refunds', routingKey: 'c' },
      { queue: 'q', bindings: [{ exchange: 'audits', routingKey: '#' }] },
    );
    expect(faults).toEqual([]);
    expect(groups).toHaveLength(1);
    const { bindings, prefetch, queue } = normalize(HANDLER, groups[0] ?? {});
    expect({ prefetch, queue }).toEqual({ prefetch: 5, queue: 'q' });
    expect(bindings).toEqual([
      { exchange: 'orders', routingKey: 'a' },
      { exchange: 'orders', routingKey: 'b' },
      { exchange: 'refunds', routingKey: 'c' },
      { exchange: 'audits', routingKey: '#' },
    ]);
  });

  it('keeps queues separate, in source order', () => {
    const { groups, faults } = join(
      { queue: 'q', exchange: 'orders' },
      { queue: 'r', exchange: 'orders' },
      { queue: 'q', exchange: 'refunds' },
    );
    expect(faults).toEqual([]);
    expect(groups.map(({ queue }) => queue)).toEqual(['q', 'r']);
    expect(groups.map((group) => bindingsOf(group).length)).toEqual([2, 1]);
  });

  it.each<[string, SubscribeOptions, SubscribeOptions]>([
    ['server-named queues', { exchange: 'x' }, { exchange: 'x' }],
    [
      'one queue on two connections',
      { queue: 'q', connection: 'a' },
      { queue: 'q', connection: 'b' },
    ],
    ['entries of the handlers map', { name: 'a' }, { name: 'b' }],
  ])('does not join %s', (_name, one, other) => {
    expect(join(one, other)).toEqual({ groups: [one, other], faults: [] });
  });

  it('reports an option with two values, in any order', () => {
    for (const list of [
      [
        { queue: 'q', prefetch: 5 },
        { queue: 'q', prefetch: 6 },
      ],
      [{ queue: 'q', prefetch: 6 }, { queue: 'q' }, { queue: 'q', prefetch: 5 }],
      [{ queue: 'q' }, { queue: 'q', prefetch: 6 }, { queue: 'q', prefetch: 5 }],
    ]) {
      expect(join(...list).faults).toEqual([
        expect.stringMatching(/^Billing\.charge: prefetch: .*"q"/),
      ]);
    }
  });

  it('accepts an option of only one of them, in any order', () => {
    for (const list of [
      [
        { queue: 'q', exchange: 'x', prefetch: 5 },
        { queue: 'q', exchange: 'y' },
      ],
      [
        { queue: 'q', exchange: 'x' },
        { queue: 'q', exchange: 'y', prefetch: 5 },
      ],
    ]) {
      const { groups, faults } = join(...list);
      expect(faults).toEqual([]);
      expect(groups).toEqual([expect.objectContaining({ prefetch: 5 })]);
    }
  });

  it('accepts equal values', () => {
    const backoff = fixed('1s');
    const { faults } = join(
      { queue: 'q', retry: { attempts: 3, backoff }, queueOptions: { arguments: { a: 1 } } },
      { queue: 'q', retry: { attempts: 3, backoff }, queueOptions: { arguments: { a: 1 } } },
    );
    expect(faults).toEqual([]);
  });

  it('reports the faults of each', () => {
    const lost = { queue: 'q', routingKey: 'lost' };
    const good = { queue: 'q', exchange: 'x', routingKey: 'a' };
    const none = { queue: 'q', bindings: 5 as never };
    const expected = [
      expect.stringMatching(/^Billing\.charge: exchange: expected an exchange beside routingKey/),
      expect.stringMatching(/^Billing\.charge: bindings: expected a list/),
    ];
    for (const list of [
      [lost, none, good],
      [good, lost, none],
    ]) {
      const { groups, faults } = join(...list);
      expect(faults).toEqual(expected);
      expect(groups.flatMap((group) => faultsOf(normalize(HANDLER, group)))).toEqual([]);
    }
  });

  it('does not change the given options', () => {
    const one = Object.freeze({ queue: 'q', exchange: 'x' });
    const other = Object.freeze({ queue: 'q', exchange: 'y' });
    join(one, other);
    expect(one).toEqual({ queue: 'q', exchange: 'x' });
  });
});
