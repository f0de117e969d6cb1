import { describe, expect, it } from 'vitest';
import { deadLettered, deathsOf, isDeathCycle } from '../../../lib/memory/dead-lettering';
import { type Death, storedMessage } from '../../../lib/memory/stored-message';

const RULES = { ttl: Number.POSITIVE_INFINITY, priorityOf: () => 0 };

function death(queue: string, reason: Death['reason']): Death {
  const time = { '!': 'timestamp', value: 1 } as const;
  return { count: 1, reason, queue, time, exchange: '', 'routing-keys': [queue] };
}

function message(headers: Record<string, unknown> | undefined, expiration?: string) {
  const properties = { messageId: 'm1', ...(expiration && { expiration }) };
  const published = { body: Buffer.from('one'), properties, headers };
  return storedMessage(published, { exchange: 'orders', routingKey: 'paid' }, RULES, 0);
}

const PLACE = {
  queue: 'billing',
  reason: 'expired',
  now: Date.parse('2024-05-01T12:00:00.900Z'),
  version: [3, 10],
  routingKey: undefined,
} as const;

describe('the history of a dead letter', () => {
  it('says when, in whole seconds, where from and why', () => {
    const { headers } = deadLettered(message({ tenant: 'a' }, '50'), PLACE);
    expect(headers?.['x-death']).toEqual([
      {
        count: 1,
        reason: 'expired',
        queue: 'billing',
        time: { '!': 'timestamp', value: Date.parse('2024-05-01T12:00:00Z') / 1_000 },
        exchange: 'orders',
        'routing-keys': ['paid'],
        'original-expiration': '50',
      },
    ]);
    expect(headers?.['tenant']).toBe('a');
  });

  it('names the last death from 3.13 on only', () => {
    const last = (version: readonly [number, number]) =>
      deadLettered(message({}), { ...PLACE, version }).headers?.['x-last-death-queue'];
    expect(last([3, 10])).toBeUndefined();
    expect(last([4, 0])).toBe('billing');
  });

  it('names the first death once, and believes a client that names one before 4.0 only', () => {
    const first = (from: ReturnType<typeof message>, version: readonly [number, number]) =>
      deadLettered(from, { ...PLACE, version }).headers?.['x-first-death-queue'];
    const forged = message({ 'x-first-death-queue': 'forged' });
    expect(first(forged, [3, 10])).toBe('forged');
    expect(first(forged, [4, 0])).toBe('billing');
    const earlier = { ...forged, deaths: [death('earlier', 'expired')] };
    expect(first(earlier, [4, 0])).toBe('forged');
    expect(first(message({}), [3, 10])).toBe('billing');
  });

  it('counts what repeats and puts it first, with what it was the first time', () => {
    const before = [death('wait', 'expired'), death('billing', 'expired')];
    const { deaths } = deadLettered(message({ 'x-death': before }), PLACE);
    expect(deaths).toEqual([
      { ...death('billing', 'expired'), count: 2 },
      death('wait', 'expired'),
    ]);
  });

  it('keeps further addresses unless the queue gives a new key', () => {
    const sent = message({ CC: ['copy'] });
    expect(deadLettered(sent, PLACE).headers?.['CC']).toEqual(['copy']);
    const moved = deadLettered(sent, { ...PLACE, routingKey: 'dead' });
    expect(moved.headers).not.toHaveProperty('CC');
    expect(moved.deaths?.[0]?.['routing-keys']).toEqual(['paid', 'copy']);
  });

  it('is believed when a client tells it, before 4.0', () => {
    const told = message({ 'x-death': [death('other', 'expired')] });
    expect(deathsOf(told, [3, 10])).toHaveLength(1);
    expect(deathsOf(told, [4, 0])).toEqual([]);
    expect(deadLettered(told, { ...PLACE, version: [4, 0] }).deaths).toHaveLength(1);
  });

  it.each([['x'], [{}], [7], [null], [[null, 'x', 7]]])('takes %j for none', (value) => {
    expect(deathsOf(message({ 'x-death': value }), [3, 10])).toEqual([]);
  });
});

describe('a cycle', () => {
  it.each([
    ['the queue was never there', [death('other', 'expired')], false],
    ['it was there and expired', [death('billing', 'expired')], true],
    ['it was there, and its limit ended it', [death('billing', 'delivery_limit')], true],
    ['it was rejected there', [death('billing', 'rejected')], false],
    ['somebody rejected it since', [death('w', 'rejected'), death('billing', 'expired')], false],
    ['somebody rejected it before', [death('billing', 'expired'), death('w', 'rejected')], true],
  ])('%s', (_what, deaths, isCycle) => {
    expect(isDeathCycle(deaths, 'billing')).toBe(isCycle);
  });
});
