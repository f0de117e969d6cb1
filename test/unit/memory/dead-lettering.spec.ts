import { describe, expect, it } from 'vitest';
import { deadLettered, deathsOf, isDeathCycle } from '../../../lib/memory/dead-lettering';
import { type Death, storedMessage } from '../../../lib/memory/stored-message';

const RULES = { ttl: Number.POSITIVE_INFINITY, priorityOf: () => 0, bytesOf: () => 0 };

function death(queue: string, reason: Death['reason']): Death {
  const time = { '!': 'timestamp', value: 1 } as const;
  return { count: 1, reason, queue, time, exchange: '', 'routing-keys': [queue] };
}

function message(headers: Record<string, unknown> | undefined, expiration?: string) {
  const properties = { messageId: 'm1', ...(expiration && { expiration }) };
  const published = { body: Buffer.from('one'), properties, headers };
  return storedMessage(published, { exchange: 'orders', routingKey: 'paid' }, RULES, 0);
}

const DEATH = {
  queue: 'billing',
  reason: 'expired',
  now: Date.parse('2024-05-01T12:00:00.900Z'),
  version: [3, 10],
  routingKey: undefined,
} as const;

describe('the death headers', () => {
  it('contain time in seconds, queue, address and reason', () => {
    const { headers } = deadLettered(message({ tenant: 'a' }, '50'), DEATH);
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

  it('name the last death from 3.13 on', () => {
    const last = (version: readonly [number, number]) =>
      deadLettered(message({}), { ...DEATH, version }).headers?.['x-last-death-queue'];
    expect(last([3, 10])).toBeUndefined();
    expect(last([4, 0])).toBe('billing');
  });

  it("name the first death once, and keep a client's own before 4.0", () => {
    const first = (from: ReturnType<typeof message>, version: readonly [number, number]) =>
      deadLettered(from, { ...DEATH, version }).headers?.['x-first-death-queue'];
    const forged = message({ 'x-first-death-queue': 'forged' });
    expect(first(forged, [3, 10])).toBe('forged');
    expect(first(forged, [4, 0])).toBe('billing');
    const earlier = { ...forged, deaths: [death('earlier', 'expired')] };
    expect(first(earlier, [4, 0])).toBe('forged');
    expect(first(message({}), [3, 10])).toBe('billing');
  });

  it('count a repeated death and move it to the front', () => {
    const before = [death('wait', 'expired'), death('billing', 'expired')];
    const { deaths } = deadLettered(message({ 'x-death': before }), DEATH);
    expect(deaths).toEqual([
      { ...death('billing', 'expired'), count: 2 },
      death('wait', 'expired'),
    ]);
  });

  it('keep CC unless the queue sets a routing key', () => {
    const original = message({ CC: ['copy'] });
    expect(deadLettered(original, DEATH).headers?.['CC']).toEqual(['copy']);
    const moved = deadLettered(original, { ...DEATH, routingKey: 'dead' });
    expect(moved.headers).not.toHaveProperty('CC');
    expect(moved.deaths?.[0]?.['routing-keys']).toEqual(['paid', 'copy']);
  });

  it('are trusted from a client before 4.0', () => {
    const claimed = message({ 'x-death': [death('other', 'expired')] });
    expect(deathsOf(claimed, [3, 10])).toHaveLength(1);
    expect(deathsOf(claimed, [4, 0])).toEqual([]);
    expect(deadLettered(claimed, { ...DEATH, version: [4, 0] }).deaths).toHaveLength(1);
  });

  it.each([['x'], [{}], [7], [null], [[null, 'x', 7]]])('ignore the invalid value %j', (value) => {
    expect(deathsOf(message({ 'x-death': value }), [3, 10])).toEqual([]);
  });
});

describe('isDeathCycle', () => {
  it.each([
    ['false if it never died in the queue', [death('other', 'expired')], false],
    ['true if it expired in the queue', [death('billing', 'expired')], true],
    [
      'true if it reached the delivery limit of the queue',
      [death('billing', 'delivery_limit')],
      true,
    ],
    ['false if it was rejected in the queue', [death('billing', 'rejected')], false],
    [
      'false if it was rejected elsewhere since',
      [death('w', 'rejected'), death('billing', 'expired')],
      false,
    ],
    [
      'true if it was rejected elsewhere before',
      [death('billing', 'expired'), death('w', 'rejected')],
      true,
    ],
  ])('is %s', (_what, deaths, isCycle) => {
    expect(isDeathCycle(deaths, 'billing')).toBe(isCycle);
  });
});
