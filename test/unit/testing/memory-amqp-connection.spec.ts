import { describe, expect, it } from 'vitest';
import { propertiesOf } from '../../../lib/testing/memory-amqp-connection';

describe('publish options become what amqplib sends', () => {
  it.each([
    ['persistent', { persistent: true }, { deliveryMode: 2 }, {}],
    [
      'not persistent, whatever the mode',
      { persistent: false, deliveryMode: 2 },
      { deliveryMode: 1 },
      {},
    ],
    ['a mode', { deliveryMode: 2 }, { deliveryMode: 2 }, {}],
    ['an expiration as a text', { expiration: 500 }, { expiration: '500' }, {}],
    [
      'further addresses as headers',
      { CC: 'a', BCC: ['b', 'c'] },
      {},
      { CC: ['a'], BCC: ['b', 'c'] },
    ],
    ['headers of the application', { headers: { tenant: 'a' } }, {}, { tenant: 'a' }],
    [
      'mandatory, which is no property',
      { mandatory: true, messageId: 'm' },
      { messageId: 'm' },
      {},
    ],
    ['nothing', {}, {}, {}],
  ])('%s', (_what, options, properties, headers) => {
    expect(propertiesOf(options)).toStrictEqual({ properties, headers });
  });
});
