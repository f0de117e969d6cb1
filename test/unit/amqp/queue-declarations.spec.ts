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

describe('queueDeclarationOf', () => {
  it('declares a durable queue with an explicit type, also the default one', () => {
    expect(declaration({ queue: 'q' })).toEqual({
      durable: true,
      arguments: { 'x-queue-type': 'classic' },
    });
    expect(declaration(quorum, [3, 13])).toEqual({
      durable: true,
      arguments: { 'x-queue-type': 'quorum' },
    });
  });

  it('keeps queueOptions except those for consumers, channels and bindings', () => {
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

  it('declares a server-named queue exclusive and auto-deleted', () => {
    expect(declaration({ exchange: 'x' })).toMatchObject({
      exclusive: true,
      autoDelete: true,
      durable: false,
    });
  });

  it('does not depend on retry.attempts, which can change between releases', () => {
    for (const queueType of ['classic', 'quorum'] as const) {
      for (const version of [
        [3, 10],
        [4, 0],
      ] as const) {
        const of = (attempts: number) =>
          declaration({ queue: 'q', queueType, retry: { attempts } }, version);
        expect(of(3)).toEqual(of(10_000));
      }
    }
  });

  it.each<[string, SubscribeOptions, ServerVersion, unknown]>([
    ['no limit from 4.0 on', { ...quorum, retry: { attempts: 21 } }, [4, 0], -1],
    ['the same without retry, since restarts count', quorum, [4, 0], -1],
    [
      'none before 4.0, which has no default limit',
      { ...quorum, retry: { attempts: 21 } },
      [3, 13],
      undefined,
    ],
    ['none on a classic queue', { queue: 'q', retry: { attempts: 21 } }, [4, 0], undefined],
    [
      'the one that the application sets',
      {
        ...quorum,
        retry: { attempts: 21 },
        queueOptions: { arguments: { 'x-delivery-limit': 50 } },
      },
      [4, 0],
      50,
    ],
    [
      'one less than attempts with deadLetter.by broker',
      { ...quorum, retry: { attempts: 3 }, deadLetter: { queue: 'dead', by: 'broker' } },
      [3, 10],
      2,
    ],
    [
      '0 for one attempt with deadLetter.by broker',
      { ...quorum, retry: { attempts: 1 }, deadLetter: { queue: 'dead', by: 'broker' } },
      [4, 0],
      0,
    ],
  ])('sets a delivery limit: %s', (_name, options, version, limit) => {
    expect(declaration(options, version).arguments['x-delivery-limit']).toBe(limit);
  });

  it("sets a dead-letter exchange only with deadLetter.by 'broker'", () => {
    const broker = declaration({ queue: 'q', deadLetter: { queue: 'dead', by: 'broker' } });
    expect(broker.arguments).toEqual({
      'x-queue-type': 'classic',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'dead',
    });
    expect(declaration({ queue: 'q', deadLetter: 'dead' })).toEqual(declaration({ queue: 'q' }));
  });

  it("sets the delayed-retry arguments with retry.by 'broker'", () => {
    const retry = { attempts: 3, backoff: linear('5s', { max: '1m' }), by: 'broker' } as const;
    expect(declaration({ ...quorum, retry }).arguments).toEqual({
      'x-queue-type': 'quorum',
      'x-delivery-limit': -1,
      'x-delayed-retry-type': 'failed',
      'x-delayed-retry-min': 5_000,
      'x-delayed-retry-max': 60_000,
    });
    expect(declaration({ ...quorum, retry: { ...retry, by: 'client' } })).toEqual(
      declaration(quorum),
    );
  });
});

describe('waitingDeclarationOf', () => {
  it('is durable, has one TTL, dead-letters to the queue and never expires', () => {
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

  it('dead-letters at least once on a quorum queue', () => {
    expect(waitingDeclarationOf('q', 'quorum', 1_024).arguments).toMatchObject({
      'x-queue-type': 'quorum',
      'x-overflow': 'reject-publish',
      'x-dead-letter-strategy': 'at-least-once',
    });
  });
});

describe('deadLetterDeclarationOf', () => {
  it("is durable and of the subscription's type unless its options differ", () => {
    expect(deadLetterDeclarationOf('quorum', {}, [3, 13])).toEqual({
      durable: true,
      arguments: { 'x-queue-type': 'quorum' },
    });
    const options = { durable: false, arguments: { 'x-queue-type': 'classic', 'x-max-length': 5 } };
    expect(deadLetterDeclarationOf('quorum', options, [4, 3])).toEqual(options);
  });

  it('has no delivery limit on a quorum queue of 4.0 or later, unless one is set', () => {
    const limitOf = (queueType: 'classic' | 'quorum', args = {}) =>
      deadLetterDeclarationOf(queueType, { arguments: args }, [4, 0]).arguments['x-delivery-limit'];
    expect(limitOf('quorum')).toBe(-1);
    expect(limitOf('classic')).toBeUndefined();
    expect(limitOf('quorum', { 'x-delivery-limit': 7 })).toBe(7);
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
