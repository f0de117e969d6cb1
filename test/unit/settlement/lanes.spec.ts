import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../lib/settlement/lanes';

interface Item {
  readonly key: string;
  readonly number: number;
}

describe('lanes', () => {
  it('let one of each key begin at a time, in the order in which they entered', () => {
    const steps = fc.array(
      fc.record({ do: fc.constantFrom('enter', 'leave'), key: fc.constantFrom('a', 'b', 'c') }),
      { maxLength: 200 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const lanes = new Lanes<Item>();
        const begun = new Map<string, Item>();
        const order: Item[] = [];
        const begin = (item: Item | undefined): void => {
          if (item === undefined) return;
          expect(begun.has(item.key)).toBe(false);
          begun.set(item.key, item);
          order.push(item);
        };
        all.forEach(({ do: what, key }, number) => {
          const item = { key, number };
          if (what === 'enter' && lanes.enter(key, item)) begin(item);
          if (what === 'leave' && begun.delete(key)) begin(lanes.leave(key));
        });
        // What is left begins as the others leave.
        while (begun.size > 0) {
          for (const key of [...begun.keys()]) {
            begun.delete(key);
            begin(lanes.leave(key));
          }
        }
        const entered = all.flatMap(({ do: what, key }, number) =>
          what === 'enter' ? [{ key, number }] : [],
        );
        for (const key of ['a', 'b', 'c']) {
          const of = (items: readonly Item[]): number[] =>
            items.filter((item) => item.key === key).map(({ number }) => number);
          expect(of(order)).toEqual(of(entered));
        }
      }),
    );
  });

  it('forget everything but the first ones that are kept', () => {
    const lanes = new Lanes<number>();
    for (const item of [1, 2]) lanes.enter('kept', item);
    for (const item of [3, 4]) lanes.enter('gone', item);
    lanes.clear((head) => head === 1);
    expect(lanes.enter('gone', 5)).toBe(true);
    expect(lanes.enter('kept', 6)).toBe(false);
    expect(lanes.leave('kept')).toBe(6);
  });
});
