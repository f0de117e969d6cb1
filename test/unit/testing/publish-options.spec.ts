import { describe, expect, it } from 'vitest';
import { sentPropertiesOf } from '../../../lib/testing/publish-options';

describe('sentPropertiesOf', () => {
  it.each([
    ['persistent', { persistent: true }, { deliveryMode: 2 }, {}],
    [
      'not persistent, despite a delivery mode',
      { persistent: false, deliveryMode: 2 },
      { deliveryMode: 1 },
      {},
    ],
    ['a delivery mode', { deliveryMode: 2 }, { deliveryMode: 2 }, {}],
    ['an expiration as a text', { expiration: 500 }, { expiration: '500' }, {}],
    ['CC and BCC as headers', { CC: 'a', BCC: ['b', 'c'] }, {}, { CC: ['a'], BCC: ['b', 'c'] }],
    ['headers of the application', { headers: { tenant: 'a' } }, {}, { tenant: 'a' }],
    [
      'mandatory, which is not a property',
      { mandatory: true, messageId: 'm' },
      { messageId: 'm' },
      {},
    ],
    ['no options', {}, {}, {}],
  ])('converts %s', (_what, options, properties, headers) => {
    expect(sentPropertiesOf(options)).toStrictEqual({ properties, headers });
  });

  const TEXT = 'wrong type; must be a string (up to 255 chars)';
  const NUMBER = 'wrong type; must be a number (but not NaN)';

  it.each([
    ['a messageId that is a number', { messageId: 5 }, `Field 'messageId' is the ${TEXT}`],
    ['a text of 256 bytes', { appId: 'ü'.repeat(128) }, `Field 'appId' is the ${TEXT}`],
    ['a Date as timestamp', { timestamp: new Date() }, `Field 'timestamp' is the ${NUMBER}`],
    ['a fraction as timestamp', { timestamp: 1.5 }, '"value" argument is out of bounds'],
    ['a priority above 255', { priority: 256 }, 'must be >= 0 and <= 255. Received 256'],
    ['headers that are a text', { headers: 'a' }, 'may only be an Object or null: a'],
    ['NaN in a header', { headers: { a: [Number.NaN] } }, '"value" argument is out of bounds'],
    ['a function in a header', { headers: { a: [{ b: () => 1 }] } }, 'type to encode: function'],
    ['undefined in a list', { headers: { a: [undefined] } }, 'Unknown type to encode: undefined'],
    ['a bigint in a header', { headers: { a: 5n } }, 'Unknown type to encode: bigint'],
    ['an unknown type in a header', { headers: { a: { '!': 'x' } } }, 'Unknown type to encode: x'],
    ['a header name of 256 bytes', { headers: { ['a'.repeat(256)]: 1 } }, 'Received 256'],
    ['infinity in a header', { headers: { a: Number.POSITIVE_INFINITY } }, '541 (INTERNAL-ERROR)'],
    ['headers above 64 KiB', { headers: { a: 'x'.repeat(65_536) } }, '541 (INTERNAL-ERROR)'],
  ])('throws what amqplib throws, or RabbitMQ replies, for %s', (_what, options, text) => {
    expect(() => sentPropertiesOf(options)).toThrow(text);
  });

  it.each([
    ['null', { messageId: null, headers: null, priority: null }, {}, {}],
    ['a fraction as priority', { priority: 1.5 }, { priority: 1 }, {}],
    ['a mode that is a text', { deliveryMode: 'persistent' }, { deliveryMode: 2 }, {}],
    ['a Date in a header', { headers: { a: new Date(0) } }, {}, { a: {} }],
    ['an explicit type', { headers: { a: { '!': 'int', value: 5 } } }, {}, { a: 5 }],
    ['half a character', { headers: { a: 'a\ud800b' } }, {}, { a: 'a\ufffdb' }],
    ['a number of 64 bits', { headers: { a: 2 ** 53 + 2 } }, {}, { a: 2 ** 53 + 2 }],
    ['undefined', { headers: { a: undefined } }, {}, {}],
    ['inherited headers', { headers: Object.create({ a: 1 }) }, {}, { a: 1 }],
  ])('converts %s as amqplib does', (_what, options, properties, headers) => {
    expect(sentPropertiesOf(options)).toEqual({ properties, headers });
  });
});
