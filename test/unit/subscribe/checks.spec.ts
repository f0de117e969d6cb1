import { describe, expect, it } from 'vitest';
import { exponential, fixed, linear } from '../../../lib/model/backoff';
import type { SubscribeDefaults } from '../../../lib/model/options';
import { drop, retry, retryAfter } from '../../../lib/model/outcome';
import { on } from '../../../lib/model/policy';
import { faultsOf, normalize } from '../../../lib/subscribe/normalize';
import { isQueueName } from '../../../lib/subscribe/value-checks';

const HANDLER = 'Billing.charge';

/** The faults of options of any type, as JavaScript allows. */
function faults(options: Readonly<Record<string, unknown>>, defaults?: SubscribeDefaults) {
  return faultsOf(normalize(HANDLER, options, defaults));
}

const quorum = { queue: 'q', queueType: 'quorum' };
const counted = { attempts: 3 };
const long = 'ü'.repeat(128);

describe('a fault names the handler, the option and the found value', () => {
  it.each<[option: string, found: string, options: Record<string, unknown>]>([
    // Options as written.
    ['queue', 'undefined', { queue: undefined, exchange: 'x' }],
    ['queue', "''", { queue: '', exchange: 'x' }],
    ['queue', '5', { queue: 5, exchange: 'x' }],
    ['queue', "'ü", { queue: long }],
    ['onError', "'explode'", { queue: 'q', onError: 'explode' }],
    ['onError', '{ on: 5 }', { queue: 'q', onError: { on: 5 } }],
    ['onError', "'drop'", { queue: 'q', onError: ['drop', on(Error, 'retry')] }],
    ['onError', '[]', { queue: 'q', onError: [] }],
    ['onError', '7', { queue: 'q', onError: [on(Error, 'drop'), 7] }],
    ['onError', 'undefined', { queue: 'q', onError: [undefined, 'drop'] }],
    ['onError', 'undefined', { queue: 'q', onError: on(undefined as never, 'drop') }],
    ['onError', "'BankTimeout'", { queue: 'q', onError: on('BankTimeout' as never, 'drop') }],
    ['onError', '[ undefined ]', { queue: 'q', onError: [on([undefined as never], 'drop')] }],
    // Single values.
    ['requestScope', "'yes'", { queue: 'q', requestScope: 'yes' }],
    ['requestScope', 'true', { queue: 'q', requestScope: true, batch: { size: 5 } }],
    ['prefetch', '0', { queue: 'q', prefetch: 0 }],
    ['prefetch', '65536', { queue: 'q', prefetch: 65_536 }],
    ['prefetch', '1.5', { queue: 'q', prefetch: 1.5 }],
    ['prefetch', 'NaN', { queue: 'q', prefetch: Number.NaN }],
    ['prefetch', "'10'", { queue: 'q', prefetch: '10' }],
    ['queueType', "'stream'", { queue: 'q', queueType: 'stream' }],
    ['retry.attempts', 'undefined', { queue: 'q', retry: {} }],
    ['retry.attempts', '0', { queue: 'q', retry: { attempts: 0 } }],
    ['retry.attempts', '10001', { queue: 'q', retry: { attempts: 10_001 } }],
    ['retry.attempts', '2.5', { queue: 'q', retry: { attempts: 2.5 } }],
    ['retry.attempts', 'Infinity', { queue: 'q', retry: { attempts: Number.POSITIVE_INFINITY } }],
    ['retry.attempts', "'3'", { queue: 'q', retry: { attempts: '3' } }],
    ['retry.attempts', 'undefined', { queue: 'q', retry: 3 }],
    ['retry.maxAge', '0', { queue: 'q', retry: { attempts: 5, maxAge: 0 } }],
    ['retry.maxAge', "'soon'", { queue: 'q', retry: { attempts: 5, maxAge: 'soon' } }],
    [
      'retry.maxAge',
      "'1d'",
      {
        queue: 'q',
        queueType: 'quorum',
        retry: { attempts: 5, maxAge: '1d', by: 'broker', backoff: linear('1s') },
      },
    ],
    ['retry.maxDeliveries', '4', { queue: 'q', retry: { attempts: 5, maxDeliveries: 4 } }],
    ['retry.maxDeliveries', '5.5', { queue: 'q', retry: { attempts: 5, maxDeliveries: 5.5 } }],
    ['retry.maxDeliveries', "'9'", { queue: 'q', retry: { attempts: 5, maxDeliveries: '9' } }],
    ['retry.maxDeliveries', 'null', { queue: 'q', retry: { attempts: 5, maxDeliveries: null } }],
    ['retry.by', "'me'", { queue: 'q', retry: { attempts: 3, by: 'me' } }],
    ['retry.backoff', "'1s'", { queue: 'q', retry: { attempts: 3, backoff: '1s' } }],
    ['retry.backoff', '5', { queue: 'q', retry: { attempts: 3, backoff: 5, by: 'broker' } }],
    [
      'retry.backoff',
      '{ delay: 5 }',
      { queue: 'q', retry: { attempts: 3, backoff: { delay: 5 } } },
    ],
    ['retry.backoff', '[Function: fixed]', { queue: 'q', retry: { attempts: 3, backoff: fixed } }],
    ['deadLetter', "''", { queue: 'q', deadLetter: '' }],
    ['deadLetter', "'ü", { queue: 'q', deadLetter: long }],
    ['deadLetter', 'undefined', { queue: 'q', deadLetter: {} }],
    ['deadLetter', 'undefined', { queue: 'q', deadLetter: 5 }],
    ['deadLetter.by', "'me'", { queue: 'q', deadLetter: { queue: 'dead', by: 'me' } }],
    ['timeout', '0', { queue: 'q', timeout: 0 }],
    ['timeout', "'0s'", { queue: 'q', timeout: '0s' }],
    ['timeout', '-1', { queue: 'q', timeout: -1 }],
    ['timeout', "'soon'", { queue: 'q', timeout: 'soon' }],
    ['timeout', "'50d'", { queue: 'q', timeout: '50d' }],
    ['onPanic', "'explode'", { queue: 'q', onPanic: 'explode' }],
    ['onPanic', '[Function: drop]', { queue: 'q', onPanic: drop }],
    ['onInvalidPayload', "'ack'", { queue: 'q', onInvalidPayload: 'ack' }],
    ['onError', "'explode'", { queue: 'q', onError: [on(Error, 'explode' as never)] }],
    // Combinations.
    [
      "queueOptions.arguments['x-queue-type']",
      "'quorum'",
      {
        queue: 'q',
        queueType: 'classic',
        queueOptions: { arguments: { 'x-queue-type': 'quorum' } },
      },
    ],
    [
      "queueOptions.arguments['x-queue-type']",
      "'stream'",
      { queue: 'q', queueOptions: { arguments: { 'x-queue-type': 'stream' } } },
    ],
    ['queueType', "'quorum'", { ...quorum, queueOptions: { durable: false } }],
    ['queueType', "'quorum'", { ...quorum, queueOptions: { exclusive: true } }],
    ['queueType', "'quorum'", { exchange: 'x', queueType: 'quorum' }],
    ['retry', '{ attempts: 3 }', { queue: 'q', noAck: true, retry: counted }],
    ['deadLetter', "'dead'", { queue: 'q', noAck: true, deadLetter: 'dead' }],
    [
      'retry',
      '{ attempts: 3 }',
      { queue: 'q', queueOptions: { consumerOptions: { noAck: true } }, retry: counted },
    ],
    ['deadLetter', "'q'", { queue: 'q', deadLetter: 'q' }],
    [
      'queueOptions',
      "'dlx'",
      {
        queue: 'q',
        deadLetter: { queue: 'd', by: 'broker' },
        queueOptions: { deadLetterExchange: 'dlx' },
      },
    ],
    [
      'queueOptions',
      "''",
      {
        queue: 'q',
        deadLetter: { queue: 'd', by: 'broker' },
        queueOptions: { deadLetterExchange: '' },
      },
    ],
    [
      'queueOptions',
      "'dlx'",
      {
        queue: 'q',
        deadLetter: { queue: 'd', by: 'broker' },
        queueOptions: { arguments: { 'x-dead-letter-exchange': 'dlx' } },
      },
    ],
    ['onInvalidPayload', "'retry'", { queue: 'q', onInvalidPayload: 'retry' }],
    ['onInvalidPayload', "'retryAfter'", { queue: 'q', onInvalidPayload: 'retryAfter' }],
    ['onInvalidPayload', "'retry'", { queue: 'q', onInvalidPayload: retry() }],
    ['onInvalidPayload', "'retryAfter'", { queue: 'q', onInvalidPayload: retryAfter('1h') }],
    [
      'retry.by',
      "'broker'",
      { queue: 'q', retry: { attempts: 3, backoff: linear('1s'), by: 'broker' } },
    ],
    ['retry.backoff', 'undefined', { ...quorum, retry: { attempts: 3, by: 'broker' } }],
    [
      'retry.backoff',
      '{',
      { ...quorum, retry: { attempts: 3, by: 'broker', backoff: exponential(5) } },
    ],
    [
      'retry.backoff',
      '{',
      { ...quorum, retry: { attempts: 3, by: 'broker', backoff: linear('1s', { jitter: 0.1 }) } },
    ],
    // A server-named queue.
    ['retry.backoff', '{', { exchange: 'x', retry: { attempts: 3, backoff: fixed('1s') } }],
    ['retry.by', "'broker'", { exchange: 'x', retry: { attempts: 3, by: 'broker' } }],
    ['deadLetter.by', "'broker'", { exchange: 'x', deadLetter: { queue: 'dead', by: 'broker' } }],
  ])('%s: %s', (option, found, options) => {
    const start = `${HANDLER}: ${option}: expected `;
    const matching = faults(options).filter((line) => line.startsWith(start));
    expect(matching.map((line) => line.split('; found ')[1] ?? line)).toContainEqual(
      expect.stringContaining(found),
    );
    expect(matching.join()).not.toContain('\n');
  });
});

describe('valid options', () => {
  it.each<[name: string, options: Record<string, unknown>]>([
    ['a queue alone', { queue: 'q' }],
    [
      'every option',
      {
        name: 'n',
        connection: 'c',
        exchange: 'x',
        routingKey: 'a',
        bindings: [{ exchange: 'y', routingKey: 'b' }],
        queue: 'q',
        queueOptions: { durable: true },
        createQueueIfNotExists: false,
        deserializer: () => undefined,
        allowNonJsonMessages: true,
        queueType: 'quorum',
        prefetch: 5,
        retry: { attempts: 3, backoff: fixed('1s'), by: 'client' },
        deadLetter: { queue: 'dead', by: 'client', stack: true, queueOptions: {} },
        timeout: '1m',
        onError: 'drop',
        onPanic: 'failFastOnce',
        onInvalidPayload: 'skip',
        requestScope: true,
        noAck: false,
        declare: { queue: true, waiting: true, deadLetter: false },
      },
    ],
    ['an exchange alone, for a server-named queue', { exchange: 'x' }],
    ['a name alone, with the rest in handlers', { name: 'billing' }],
    ['a queue of 255 bytes', { queue: `${'ü'.repeat(127)}x` }],
    ['the smallest values', { queue: 'q', prefetch: 1, retry: { attempts: 1 }, timeout: 1 }],
    [
      'the largest values',
      { queue: 'q', prefetch: 65_535, retry: { attempts: 10_000 }, timeout: '49d' },
    ],
    ['a custom backoff', { queue: 'q', retry: { attempts: 3, backoff: { delay: () => 5 } } }],
    [
      'a backoff that is an instance of a class',
      {
        queue: 'q',
        retry: {
          attempts: 3,
          backoff: new (class Own {
            delay(): number {
              return 5;
            }
          })(),
        },
      },
    ],
    ['retry.by broker', { ...quorum, retry: { attempts: 3, by: 'broker', backoff: linear('5s') } }],
    ['noAck alone', { queue: 'q', noAck: true }],
    ['deadLetter.by broker', { ...quorum, deadLetter: { queue: 'dead', by: 'broker' } }],
    [
      'onInvalidPayload retry with retry.attempts',
      { queue: 'q', onInvalidPayload: 'retry', retry: counted },
    ],
    ['outcomes as policies', { queue: 'q', onError: drop('why'), onPanic: retry() }],
    [
      'rules and a last policy',
      { queue: 'q', onError: [on(Error, 'drop'), on([TypeError], 'skip'), 'retry'] },
    ],
    ['rules without a last policy', { queue: 'q', onError: [on(() => true, 'drop')] }],
    ['a rule alone', { queue: 'q', onError: on(Error, 'drop') }],
    [
      'the same queue type twice',
      { ...quorum, queueOptions: { arguments: { 'x-queue-type': 'quorum' } } },
    ],
    [
      'a dead-letter exchange of the queue',
      { queue: 'q', queueOptions: { deadLetterExchange: 'x' } },
    ],
    [
      'a dead-letter exchange of the queue beside deadLetter',
      { queue: 'q', deadLetter: 'd', queueOptions: { deadLetterExchange: 'x' } },
    ],
    ['an exclusive classic queue', { queue: 'q', queueOptions: { exclusive: true } }],
    ['retry on a server-named queue', { exchange: 'x', retry: counted }],
    ['a client-side dead letter on a server-named queue', { exchange: 'x', deadLetter: 'dead' }],
  ])('%s', (_name, options) => {
    expect(faults(options)).toEqual([]);
  });

  it('defaults that do not apply to noAck or to a server-named queue', () => {
    const defaults = { retry: counted, deadLetter: (queue: string) => `${queue}.dead` };
    expect(faults({ queue: 'q', noAck: true }, defaults)).toEqual([]);
    expect(faults({ exchange: 'x' }, { ...defaults, queueType: 'quorum' })).toEqual([]);
    expect(faults({ exchange: 'x' }, { retry: { attempts: 3, backoff: fixed('1s') } })).toEqual([]);
  });
});

describe('defaults', () => {
  it.each<[option: string, defaults: Record<string, unknown>]>([
    ['prefetch', { prefetch: 0 }],
    ['retry.attempts', { retry: { attempts: -1 } }],
    ['timeout', { timeout: 'soon' }],
    ['onError', { onError: 'explode' }],
    ['onPanic', { onPanic: 'explode' }],
    ['onInvalidPayload', { onInvalidPayload: 'retry' }],
    ['queueType', { queueType: 'stream' }],
    ['deadLetter', { deadLetter: () => 5 }],
  ])('are checked like options: %s', (option, defaults) => {
    expect(faults({ queue: 'q' }, defaults)).toEqual([
      expect.stringContaining(`${HANDLER}: ${option}: expected `),
    ]);
  });

  it('report an error of the deadLetter function', () => {
    const deadLetter = (): never => {
      throw new Error('no such tenant');
    };
    expect(faults({ queue: 'q' }, { deadLetter })).toEqual([
      expect.stringMatching(/^Billing\.charge: deadLetter: expected .*no such tenant/),
    ]);
  });

  it('are not checked if the subscription overrides them', () => {
    expect(faults({ queue: 'q', onError: 'drop' }, { onError: 'explode' as never })).toEqual([]);
  });
});

describe('the faults of a subscription', () => {
  it('are reported together, one line each', () => {
    const options = { queue: '', prefetch: 0, retry: { attempts: 0 }, onPanic: 'x', colour: 'red' };
    const lines = faults(options);
    for (const option of ['queue', 'prefetch', 'retry.attempts', 'onPanic', 'colour']) {
      expect(lines.filter((line) => line.startsWith(`${HANDLER}: ${option}: `))).toHaveLength(1);
    }
    expect(lines).toHaveLength(5);
  });

  it('are reported once', () => {
    expect(faults({ queue: undefined })).toHaveLength(1);
    expect(faults({})).toHaveLength(1);
  });

  it('explain that a policy can only be last', () => {
    expect(faults({ queue: 'q', onError: ['drop', on(Error, 'retry')] })).toEqual([
      expect.stringContaining('before the last'),
    ]);
  });

  it.each(['errorHandler', 'errorBehavior', 'batchOptions', 'assertQueueErrorHandler'])(
    "name the replacement of golevelup's option %s",
    (option) => {
      expect(faults({ queue: 'q', [option]: {} })).toEqual([
        expect.stringMatching(new RegExp(`^Billing\\.charge: ${option}: .*instead: .`)),
      ]);
    },
  );

  it('name an unknown option', () => {
    expect(faults({ queue: 'q', prefetsch: 5 })).toEqual([
      expect.stringMatching(/^Billing\.charge: prefetsch: no such option/),
    ]);
  });
});

describe('isQueueName', () => {
  it.each([
    ['q', true],
    ['x'.repeat(255), true],
    ['x'.repeat(256), false],
    ['ü'.repeat(127), true],
    ['ü'.repeat(128), false],
    ['', false],
    [undefined, false],
    [Buffer.from('q'), false],
  ])('%s: %s', (value, expected) => {
    expect(isQueueName(value)).toBe(expected);
  });
});
