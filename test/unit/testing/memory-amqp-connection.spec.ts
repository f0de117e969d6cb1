import { describe, expect, it } from 'vitest';
import { propertiesOf } from '../../../lib/testing/memory-amqp-connection';

describe('propertiesOf', () => {
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
    expect(propertiesOf(options)).toStrictEqual({ properties, headers });
  });
});
