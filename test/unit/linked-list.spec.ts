import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Linked, LinkedList } from '../../lib/linked-list';

interface Item extends Linked<Item> {
  readonly id: number;
}

const item = (id: number): Item => ({ id, previous: undefined, next: undefined });

describe('LinkedList', () => {
  it('holds what a Set would hold, in the same order', () => {
    const operations = fc.array(fc.tuple(fc.boolean(), fc.nat(9)));
    fc.assert(
      fc.property(operations, (steps) => {
        const list = new LinkedList<Item>();
        const set = new Set<Item>();
        const items = Array.from({ length: 10 }, (_, id) => item(id));
        for (const [isAdded, id] of steps) {
          const one = items[id]!;
          if (!isAdded) expect(list.remove(one)).toBe(set.delete(one));
          else {
            list.add(one);
            set.add(one);
          }
          expect([...list]).toEqual([...set]);
          expect(list.size).toBe(set.size);
          expect(list.first).toBe([...set][0]);
        }
        for (const one of items) {
          expect(list.has(one)).toBe(set.has(one));
          if (!set.has(one)) expect([one.previous, one.next]).toEqual([undefined, undefined]);
        }
      }),
    );
  });

  it('can lose an item while it is iterated over', () => {
    const list = new LinkedList<Item>();
    for (const id of [1, 2, 3]) list.add(item(id));
    const seen: number[] = [];
    for (const one of list) {
      seen.push(one.id);
      list.remove(one);
    }
    expect(seen).toEqual([1, 2, 3]);
    expect(list.size).toBe(0);
  });
});
