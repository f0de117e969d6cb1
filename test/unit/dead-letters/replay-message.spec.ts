import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeLetter } from '../../../lib/dead-letters/describe';
import { replayMessageOf } from '../../../lib/dead-letters/replay-message';
import { attemptOf, isRepublished } from '../../../lib/delivery/attempt';
import { isDroppedOnRepublish } from '../../../lib/delivery/headers';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { anyHeaders, messageOf } from './fixtures';

const NOW = Date.parse('2026-12-03T00:00:00Z');

function replayed(message: IncomingMessage, queue = 'billing') {
  return replayMessageOf(message, describeLetter(message, 'dead'), queue, NOW);
}

describe('replayMessageOf', () => {
  it('keeps body, properties and application headers, and resets what counts', () => {
    const message = messageOf(
      {
        tenant: 'acme',
        'x-settle-reason': 'attempts',
        'x-settle-attempts-made': 3,
        'x-settle-queue': 'billing',
        'x-settle-exchange': 'bank',
        'x-settle-routing-key': 'bank.charge',
        'x-settle-replays': 4,
        'x-death': [],
        'x-delivery-count': 7,
        CC: ['other'],
      },
      { messageId: 'm-1', contentType: 'application/json', expiration: '5', userId: 'guest' },
    );
    const { body, properties, headers } = replayed(message);
    expect(body).toBe(message.content);
    expect(properties).toEqual({ messageId: 'm-1', contentType: 'application/json' });
    expect({ ...headers }).toEqual({
      tenant: 'acme',
      'x-settle-queue': 'billing',
      'x-settle-exchange': 'bank',
      'x-settle-routing-key': 'bank.charge',
      'x-settle-replays': 5,
      'x-settle-replayed-at': '2026-12-03T00:00:00.000Z',
    });
  });

  it('names the queue that it is published to', () => {
    const message = messageOf({
      'x-settle-reason': 'error',
      'x-settle-queue': 'billing',
      'x-settle-exchange': '',
      'x-settle-routing-key': 'billing',
    });
    expect(replayed(message, 'other').headers).toMatchObject({ 'x-settle-queue': 'other' });
  });

  it('starts at attempt 1 and keeps each header of the application, whatever the headers are', () => {
    fc.assert(
      fc.property(anyHeaders, (own) => {
        const message = messageOf(own);
        const { headers } = replayed(message);
        const fields = { ...message.fields, exchange: '', routingKey: 'billing' };
        const delivered = { ...message, fields, properties: { headers } } as IncomingMessage;
        expect(attemptOf(delivered, 'billing', { redeliveries: false, acquired: false })).toBe(1);
        const isKnown = headers['x-settle-exchange'] !== undefined;
        expect(isRepublished(delivered, 'billing')).toBe(isKnown);
        for (const [name, value] of Object.entries(own)) {
          if (name.startsWith('x-settle-') || isDroppedOnRepublish(name)) continue;
          expect(headers[name]).toBe(value);
        }
      }),
    );
  });
});
