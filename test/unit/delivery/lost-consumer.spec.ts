import { describe, expect, it } from 'vitest';
import { mayHaveLostItsConsumer } from '../../../lib/delivery/lost-consumer';
import { aMessage, aRepublishedMessage, QUEUE } from '../fixtures';

const counted = aMessage({ redelivered: true, headers: { 'x-delivery-count': 1 } });
const marked = aRepublishedMessage({ 'x-settle-lost-consumer': true, 'x-settle-attempt': 2 });

describe('mayHaveLostItsConsumer', () => {
  it.each([
    ['a message that the broker counts as redelivered', counted, true],
    ['a message that was republished with the mark', marked, true],
    ['a first delivery', aMessage(), false],
    ['a republished message', aRepublishedMessage({ 'x-settle-attempt': 2 }), false],
    ['a redelivered message whose requeue is not counted', acquired(), false],
    ['a count that a client has set', aMessage({ headers: { 'x-delivery-count': 3 } }), false],
    ['a mark that a client has set', aMessage({ headers: { 'x-settle-lost-consumer': 1 } }), false],
  ])('%s', (_what, message, expected) => {
    expect(mayHaveLostItsConsumer(message, QUEUE, { redeliveries: true, acquired: true })).toBe(
      expected,
    );
  });

  it.each([counted, marked])('is false on a queue without counts', (message) => {
    expect(mayHaveLostItsConsumer(message, QUEUE, { redeliveries: false, acquired: false })).toBe(
      false,
    );
  });
});

function acquired() {
  return aMessage({ redelivered: true, headers: { 'x-acquired-count': 1 } });
}
