import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf, Identities, SelectedIds } from '../../../lib/dead-letters/identity';
import { anyHeaders, messageOf } from './fixtures';

describe('fingerprintOf', () => {
  it('does not depend on the order of headers, nor on the counts of RabbitMQ', () => {
    fc.assert(
      fc.property(anyHeaders, fc.nat(), (headers, count) => {
        const entries = Object.entries(headers).reverse();
        const again = { ...Object.fromEntries(entries), 'x-delivery-count': count };
        expect(fingerprintOf(messageOf(again))).toBe(fingerprintOf(messageOf(headers)));
      }),
    );
  });

  it('depends on body, properties and headers', () => {
    const all = [
      messageOf({ a: 1 }),
      messageOf({ a: 2 }),
      messageOf({ a: 1 }, { messageId: 'm' }),
      messageOf({ a: 1 }, { content: Buffer.from('other') }),
      messageOf(undefined),
    ];
    expect(new Set(all.map(fingerprintOf)).size).toBe(all.length);
  });
});

describe('Identities', () => {
  it('gives each message an id of its own, by which as many are selected', () => {
    const bodies = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1 });
    fc.assert(
      fc.property(bodies, fc.nat(), (texts, seed) => {
        const messages = texts.map((text) => messageOf({}, { content: Buffer.from(text) }));
        const identities = new Identities();
        const ids = messages.map((message) => identities.idOf(message));
        expect(new Set(ids).size).toBe(ids.length);
        const chosen = ids.filter((_id, index) => (seed >> (index % 30)) % 2 === 0);
        const selected = new SelectedIds(chosen);
        const taken = messages.filter((message) => selected.take(message));
        expect(taken).toHaveLength(chosen.length);
        expect(selected.areFound).toBe(true);
        const bodiesOf = (some: readonly string[]): string[] =>
          some.map((id) => id.split('-')[0] as string).sort();
        expect(taken.map(fingerprintOf).sort()).toEqual(bodiesOf(chosen));
      }),
    );
  });
});
