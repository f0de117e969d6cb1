import { describe, expect, it } from 'vitest';
import { type MessageForm, writableMessage } from '../../../lib/amqp/writable-message';
import type { OutgoingMessage } from '../../../lib/delivery/republish';

const LIMITS = { frame: 131_072, headerTable: 65_536 };
const OWN = { 'x-settle-attempt': 2, 'x-settle-queue': 'billing' };

function aMessage(parts: Partial<OutgoingMessage> = {}): OutgoingMessage {
  return { body: Buffer.from('{}'), properties: {}, headers: OWN, ...parts };
}

function written(message: OutgoingMessage, form: MessageForm = 'whole', limits = LIMITS) {
  const { message: made, leftOut } = writableMessage(message, limits, form);
  return { ...made, leftOut };
}

describe('writableMessage', () => {
  it('leaves a usual message as it is', () => {
    const properties = { messageId: 'm', deliveryMode: 2, priority: 0, timestamp: 1, type: 'paid' };
    const headers = { tenant: 't', ...OWN };
    const { leftOut, ...message } = written(aMessage({ properties, headers }));
    expect(message).toMatchObject({ properties, headers });
    expect(leftOut).toBeUndefined();
  });

  it.each<[string, unknown]>([
    ['messageId', 'ü'.repeat(128)],
    ['contentType', 7],
    ['appId', null],
    ['priority', 256],
    ['priority', 1.5],
    ['deliveryMode', -1],
    ['timestamp', Number.NaN],
    ['timestamp', new Date()],
    ['replyTo', 'amq.rabbitmq.reply-to'],
  ])('leaves out the property %s: %j', (name, value) => {
    const properties = { [name]: value, type: 'paid' };
    const message = written(aMessage({ properties }));
    expect(message.properties).toEqual({ type: 'paid' });
    expect(message.leftOut).toEqual({ properties: [name], headers: [] });
  });

  it.each<[string, unknown]>([
    ['messageId', 'ü'.repeat(127)],
    ['replyTo', 'amq.rabbitmq.reply-to.g1h2'],
    ['timestamp', 2 ** 64],
  ])('keeps the property %s: %j', (name, value) => {
    const message = written(aMessage({ properties: { [name]: value } }));
    expect(message).toMatchObject({ properties: { [name]: value }, leftOut: undefined });
  });

  it('leaves out a header that cannot be encoded, and says nothing of one that is undefined', () => {
    const message = written(aMessage({ headers: { bad: Number.NaN, none: undefined, ...OWN } }));
    expect(Object.keys(message.headers)).toEqual(Object.keys(OWN));
    expect(message.leftOut).toEqual({ properties: [], headers: ['bad'] });
  });

  it('keeps as many headers as fit into the table, the smallest first, its own always', () => {
    const own = { ...OWN, 'x-settle-error-stack': 's'.repeat(4_096) };
    const headers = { d: 'x'.repeat(30_001), c: 'x'.repeat(30_000), b: 'x'.repeat(20_000), a: 1 };
    const message = written(aMessage({ headers: { ...headers, ...own } }));
    expect(Object.keys(message.headers).sort()).toEqual(
      ['a', 'b', 'c', ...Object.keys(own)].sort(),
    );
    expect(message.leftOut).toEqual({ properties: [], headers: ['d'] });
  });

  it('keeps as many headers as fit into the frame beside the properties', () => {
    const properties = { messageId: 'x'.repeat(255), correlationId: 'x'.repeat(255) };
    const headers = { large: 'x'.repeat(3_500), small: 1, ...OWN };
    const whole = { frame: 8_192, headerTable: 65_536 };
    expect(written(aMessage({ properties, headers }), 'whole', whole).leftOut).toBeUndefined();
    const small = { frame: 4_096, headerTable: 65_536 };
    const message = written(aMessage({ properties, headers }), 'whole', small);
    expect(message.headers).toMatchObject({ small: 1, ...OWN });
    expect(message.leftOut).toEqual({ properties: [], headers: ['large'] });
  });

  it('is plain without what some queues cannot hold', () => {
    const decimal = { '!': 'decimal', value: { places: 1, digits: 5 } };
    const headers = { price: [decimal], tenant: 't', at: { '!': 'timestamp', value: 1 }, ...OWN };
    const properties = { type: 'amqp-1.0', deliveryMode: 7, replyTo: 'answers' };
    expect(written(aMessage({ properties, headers })).leftOut).toBeUndefined();
    const message = written(aMessage({ properties, headers }), 'plain');
    expect(message.properties).toEqual({ deliveryMode: 1, replyTo: 'answers' });
    expect(Object.keys(message.headers)).toEqual(['tenant', 'at', ...Object.keys(OWN)]);
    expect(message.leftOut).toEqual({ properties: ['type'], headers: ['price'] });
  });

  it('is plain as it is whole if it has nothing of that kind', () => {
    const message = aMessage({
      properties: { type: 'paid', deliveryMode: 2, replyTo: 'answers' },
      headers: { tenant: 't', ...OWN },
    });
    expect(written(message, 'plain')).toEqual(written(message, 'whole'));
  });

  it('is bare with its body, what describes it, and the headers of this library', () => {
    const kept = { contentType: 'a/b', contentEncoding: 'c', deliveryMode: 2, messageId: 'm' };
    const properties = { ...kept, correlationId: 'c', replyTo: 'r', type: 't', appId: 'a' };
    const message = written(aMessage({ properties, headers: { tenant: 't', ...OWN } }), 'bare');
    expect(message.properties).toEqual(kept);
    expect(Object.keys(message.headers)).toEqual(Object.keys(OWN));
    expect(message.leftOut?.properties).toEqual(['correlationId', 'replyTo', 'type', 'appId']);
    expect(message.leftOut?.headers).toEqual(['tenant']);
  });
});
