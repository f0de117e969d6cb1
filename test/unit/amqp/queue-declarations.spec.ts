import { describe, expect, it } from 'vitest';
import {
  deadLetterDeclarationOf,
  isAtLeast,
  queueDeclarationOf,
  type ServerVersion,
  waitingDeclarationOf,
} from '../../../lib/amqp/queue-declarations';
import { linear } from '../../../lib/model/backoff';
import type { SubscribeOptions } from '../../../lib/model/options';
import { normalize } from '../../../lib/subscribe/normalize';

function declaration(options: SubscribeOptions, version: ServerVersion = [4, 3]) {
  return queueDeclarationOf(normalize('Billing.charge', options), version);
}

const quorum = { queue: 'q', queueType: 'quorum' } as const;

describe('the declaration of a subscription’s queue', () => {
  it('is durable and says its type, also the default one', () => {
    expect(declaration({ queue: 'q' })).toEqual({
      durable: true,
      arguments: { 'x-queue-type': 'classic' },
    });
    expect(declaration(quorum)).toEqual({ durable: true, arguments: { 'x-queue-type': 'quorum' } });
  });

  it('has the queue’s options without what belongs to consumers and channels', () => {
    const queueOptions = {
      durable: false,
      messageTtl: 5_000,
      channel: 'c',
      consumerOptions: { priority: 5 },
      bindQueueArguments: { a: 1 },
      arguments: { 'x-single-active-consumer': true },
    };
    expect(declaration({ queue: 'q', queueOptions })).toEqual({
      durable: false,
      messageTtl: 5_000,
      arguments: { 'x-single-active-consumer': true, 'x-queue-type': 'classic' },
    });
  });

  it('of a queue that the server names is exclusive and goes with its connection', () => {
    expect(declaration({ exchange: 'x' })).toMatchObject({
      exclusive: true,
      autoDelete: true,
      durable: false,
    });
  });

  it('does not change with the attempts, so that they may change between releases', () => {
    for (const queueType of ['classic', 'quorum'] as const) {
      for (const version of [
        [3, 10],
        [4, 0],
      ] as const) {
        const of = (attempts: number) =>
          declaration({ queue: 'q', queueType, retry: { attempts } }, version);
        expect(of(3)).toEqual(of(20));
        expect(of(21)).toEqual(of(10_000));
      }
    }
  });

  it.each<[string, SubscribeOptions, ServerVersion, unknown]>([
    [
      '20 attempts fit the limit that applies from 4.0 on',
      { ...quorum, retry: { attempts: 20 } },
      [4, 0],
      undefined,
    ],
    ['more need one that is never reached', { ...quorum, retry: { attempts: 21 } }, [4, 0], 10_001],
    ['before 4.0 there is none', { ...quorum, retry: { attempts: 21 } }, [3, 13], undefined],
    ['a classic queue has none', { queue: 'q', retry: { attempts: 21 } }, [4, 0], undefined],
    ['no retry needs none', quorum, [4, 0], undefined],
    [
      'the user’s own stays',
      {
        ...quorum,
        retry: { attempts: 21 },
        queueOptions: { arguments: { 'x-delivery-limit': 50 } },
      },
      [4, 0],
      50,
    ],
    [
      'where the broker moves, it counts redeliveries: one less than attempts',
      { ...quorum, retry: { attempts: 3 }, deadLetter: { queue: 'dead', by: 'broker' } },
      [3, 10],
      2,
    ],
    [
      'where the broker moves and there is one attempt, the limit is 0',
      { ...quorum, retry: { attempts: 1 }, deadLetter: { queue: 'dead', by: 'broker' } },
      [4, 0],
      0,
    ],
  ])('has a delivery limit: %s', (_name, options, version, limit) => {
    expect(declaration(options, version).arguments['x-delivery-limit']).toBe(limit);
  });

  it('has a dead-letter route of its own only where the broker moves', () => {
    const broker = declaration({ queue: 'q', deadLetter: { queue: 'dead', by: 'broker' } });
    expect(broker.arguments).toEqual({
      'x-queue-type': 'classic',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'dead',
    });
    expect(declaration({ queue: 'q', deadLetter: 'dead' })).toEqual(declaration({ queue: 'q' }));
  });

  it('hands the broker its delay', () => {
    const retry = { attempts: 3, backoff: linear('5s', { max: '1m' }), by: 'broker' } as const;
    expect(declaration({ ...quorum, retry }).arguments).toEqual({
      'x-queue-type': 'quorum',
      'x-delayed-retry-type': 'failed',
      'x-delayed-retry-min': 5_000,
      'x-delayed-retry-max': 60_000,
    });
    expect(declaration({ ...quorum, retry: { ...retry, by: 'client' } })).toEqual(
      declaration(quorum),
    );
  });
});

describe('the declaration of a waiting queue', () => {
  it('is durable, has one TTL and the way back, and never expires', () => {
    expect(waitingDeclarationOf('q', 'classic', 1_024)).toEqual({
      durable: true,
      arguments: {
        'x-queue-type': 'classic',
        'x-message-ttl': 1_024,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': 'q',
      },
    });
  });

  it('of a quorum queue loses nothing on the way back', () => {
    expect(waitingDeclarationOf('q', 'quorum', 1_024).arguments).toMatchObject({
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish',
      'x-dead-letter-strategy': 'at-least-once',
    });
  });
});

describe('the declaration of a dead-letter queue', () => {
  it('is durable and of the subscription’s type, where its options say nothing else', () => {
    expect(deadLetterDeclarationOf('quorum', {})).toEqual({
      durable: true,
      arguments: { 'x-queue-type': 'quorum' },
    });
    const options = { durable: false, arguments: { 'x-queue-type': 'classic', 'x-max-length': 5 } };
    expect(deadLetterDeclarationOf('quorum', options)).toEqual(options);
  });
});

describe('isAtLeast', () => {
  it.each<[ServerVersion, ServerVersion, boolean]>([
    [[4, 0], [4, 0], true],
    [[4, 3], [4, 0], true],
    [[5, 0], [4, 3], true],
    [[4, 2], [4, 3], false],
    [[3, 13], [4, 0], false],
  ])('%o is at least %o: %s', (version, least, expected) => {
    expect(isAtLeast(version, least)).toBe(expected);
  });
});
