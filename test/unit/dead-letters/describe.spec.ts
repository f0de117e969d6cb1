import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeLetter } from '../../../lib/dead-letters/describe';
import { historyOf } from '../../../lib/dead-letters/history';
import { anyHeaders, messageOf } from './fixtures';

const SECONDS = 1_760_000_000;

function death(queue: string, reason: string, more: object = {}): object {
  return {
    ...{ queue, reason, count: 1, exchange: 'orders', 'routing-keys': ['order.new', 'copy'] },
    time: { '!': 'timestamp', value: SECONDS },
    ...more,
  };
}

const own = {
  'x-settle-reason': 'attempts',
  'x-settle-error-name': 'BankTimeout',
  'x-settle-error-message': 'no answer',
  'x-settle-attempts-made': 3,
  'x-settle-failed-at': '2026-12-01T08:00:00.000Z',
  'x-settle-handler': 'Billing.charge',
  'x-settle-queue': 'billing',
  'x-settle-exchange': 'bank',
  'x-settle-routing-key': 'bank.charge',
};

const described = (headers: Record<string, unknown> | undefined) =>
  describeLetter(messageOf(headers), 'dead');

describe('describeLetter', () => {
  it('reads what this library has dead-lettered', () => {
    expect(described(own)).toMatchObject({
      ...{ reason: 'attempts', by: 'client', errorName: 'BankTimeout', errorMessage: 'no answer' },
      ...{ attempts: 3, handler: 'Billing.charge', replays: 0 },
      failedAt: new Date('2026-12-01T08:00:00Z'),
      origin: { queue: 'billing', exchange: 'bank', routingKey: 'bank.charge' },
    });
  });

  it('reads what RabbitMQ has moved', () => {
    expect(described({ 'x-death': [death('billing', 'delivery_limit')] })).toMatchObject({
      ...{ reason: 'delivery_limit', by: 'broker', failedAt: new Date(SECONDS * 1_000) },
      origin: { queue: 'billing', exchange: 'orders', routingKey: 'order.new' },
    });
  });

  it('takes the address of the first publish from a retried message that RabbitMQ has moved', () => {
    const { 'x-settle-reason': _reason, ...retried } = own;
    const headers = {
      ...{ ...retried, 'x-settle-attempt': 2 },
      'x-death': [
        death('billing', 'rejected', { exchange: '', 'routing-keys': ['billing'] }),
        death('billing.wait.1000', 'expired'),
      ],
    };
    expect(described(headers)).toMatchObject({
      ...{ by: 'broker', reason: 'rejected', attempts: 2 },
      origin: { queue: 'billing', exchange: 'bank', routingKey: 'bank.charge' },
    });
  });

  it.each([
    ['expired in the dead-letter queue before', [death('billing.dead', 'expired')], 'billing'],
    ['has returned to this queue', [death('dead', 'expired')], 'billing'],
    ['was rejected elsewhere since', [death('invoices', 'rejected')], 'invoices'],
  ])('finds the origin of a dead letter of this library that %s', (_what, deaths, queue) => {
    expect(described({ ...own, 'x-death': deaths }).origin?.queue).toBe(queue);
  });

  it('has no origin for a message without traces', () => {
    expect(described(undefined)).toMatchObject({ reason: 'unknown', by: 'unknown', replays: 0 });
    expect(described(undefined).origin).toBeUndefined();
  });

  it('never throws, whatever the headers are', () => {
    fc.assert(
      fc.property(anyHeaders, (headers) => {
        const letter = described(headers);
        expect(letter.replays).toBeGreaterThanOrEqual(0);
        expect(letter.origin?.queue).not.toBe('');
        for (const date of [letter.failedAt, letter.firstFailedAt, letter.replayedAt]) {
          if (date !== undefined) expect(date.getTime()).not.toBeNaN();
        }
      }),
    );
  });
});

describe('headers that somebody else has written', () => {
  it('are cut to the size of those that this library writes', () => {
    const long = 'é'.repeat(50_000);
    const letter = described({
      ...own,
      ...{ 'x-settle-reason': long, 'x-settle-error-name': long },
      ...{ 'x-settle-error-message': long, 'x-settle-handler': long },
    });
    const { reason, errorName = '', errorMessage = '', handler = '' } = letter;
    expect([reason, errorName].map((text) => Buffer.byteLength(text))).toEqual([128, 128]);
    expect([errorMessage, handler].map((text) => Buffer.byteLength(text))).toEqual([1_024, 1_024]);
  });
});

describe('historyOf', () => {
  it('puts what happened in order', () => {
    const headers = {
      ...own,
      'x-settle-first-failed-at': '2026-12-01T07:00:00.000Z',
      'x-settle-replays': 2,
      'x-settle-replayed-at': '2026-12-01T06:00:00.000Z',
      'x-death': [death('billing.dead', 'expired')],
    };
    expect(historyOf(headers).map(({ kind, count }) => [kind, count])).toEqual([
      ...[
        ['moved', 1],
        ['replayed', 2],
        ['failed', 1],
        ['dead-lettered', 1],
      ],
    ]);
  });

  it('is sorted by time, with what has none at the end', () => {
    fc.assert(
      fc.property(anyHeaders, (headers) => {
        const times = historyOf(headers).map(({ at }) => at?.getTime() ?? Number.POSITIVE_INFINITY);
        expect(times).toEqual([...times].sort((one, other) => one - other || 0));
      }),
    );
  });
});
