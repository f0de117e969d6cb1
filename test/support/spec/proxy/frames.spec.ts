import { describe, expect, it } from 'vitest';

import * as build from '../../proxy';
import { type FrameDetails, FrameError, FrameParser, fromClient } from '../../proxy';
import { detailsOf, type Frame, joined, nameOf } from '../../proxy/frames';
import { declare, deliver, publish } from './peers';

const { argument, method } = build;
const { short, long, longLong, text, bits } = argument;

function parse(chunks: readonly Buffer[]): { name: string; channel: number; bytes: Buffer }[] {
  const parser = new FrameParser();
  const frames: { name: string; channel: number; bytes: Buffer }[] = [];
  for (const chunk of chunks) {
    parser.push(chunk, (frame) => {
      frames.push({ name: nameOf(frame), channel: frame.channel, bytes: joined(frame.parts) });
    });
  }
  return frames;
}

function details(bytes: Buffer): FrameDetails[] {
  const found: FrameDetails[] = [];
  new FrameParser().push(bytes, (frame) => found.push(detailsOf(frame, nameOf(frame))));
  return found;
}

function split(bytes: Buffer, length: number): Buffer[] {
  const count = Math.ceil(bytes.length / length);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  );
}

describe('FrameParser', () => {
  const stream = Buffer.concat([
    build.protocolHeader,
    publish('key', 'a body', 7),
    build.heartbeat,
    build.basicAck(3, 5),
  ]);
  const names = [
    'protocol.header',
    'basic.publish',
    'content.header',
    'content.body',
    'content.body',
    'heartbeat',
    'basic.ack',
  ];

  it.each([1, 2, 3, 6, 7, 8, 9, 13, 50, 10_000])(
    'finds the same frames in chunks of %i octets',
    (length) => {
      const frames = parse(split(stream, length));
      expect(frames.map(({ name }) => name)).toEqual(names);
      expect(frames.map(({ channel }) => channel)).toEqual([0, 7, 7, 7, 7, 0, 3]);
      expect(Buffer.concat(frames.map(({ bytes }) => bytes)).equals(stream)).toBe(true);
    },
  );

  it('refers to the chunk instead of copying a frame', () => {
    const chunk = publish('key');
    new FrameParser().push(chunk, (frame) => {
      expect(frame.parts.map((part) => part.buffer)).toEqual([chunk.buffer]);
    });
  });

  it.each([
    ['an unknown frame type', Buffer.from('HTTP/1.1 400 Bad Request')],
    ['a missing frame end', Buffer.from([8, 0, 0, 0, 0, 0, 0, 0])],
    ['a method frame without a method', Buffer.from([1, 0, 0, 0, 0, 0, 1, 9, 0xce])],
  ])('rejects %s', (_, bytes) => {
    expect(() => parse([bytes])).toThrow(FrameError);
  });

  it('names an unknown method by its numbers', () => {
    const bytes = Buffer.from([1, 0, 2, 0, 0, 0, 4, 0, 99, 0, 7, 0xce]);
    expect(parse([bytes])).toMatchObject([{ name: 'unknown.99.7', channel: 2 }]);
  });
});

describe('detailsOf', () => {
  const consumerTag = 'tag';
  const queue = 'orders';
  const target = { exchange: 'events', routingKey: 'key' };
  const targetBytes = [text('events'), text('key')];
  const reason = { replyCode: 404, replyText: 'NOT_FOUND' };
  const large = 2 ** 40 + 5;

  it.each<[string, Buffer, FrameDetails]>([
    ['basic.ack', build.basicAck(1, large, true), { deliveryTag: large, multiple: true }],
    [
      'basic.nack',
      build.basicNack(1, 4, { requeue: true }),
      { deliveryTag: 4, multiple: false, requeue: true },
    ],
    [
      'basic.reject',
      method('basic.reject', 1, longLong(9), bits(true)),
      { deliveryTag: 9, requeue: true },
    ],
    [
      'basic.return',
      method('basic.return', 1, short(312), text('NO_ROUTE'), ...targetBytes),
      { replyCode: 312, replyText: 'NO_ROUTE', ...target },
    ],
    [
      'basic.get-ok',
      method('basic.get-ok', 1, longLong(2), bits(false), ...targetBytes, long(8)),
      { deliveryTag: 2, redelivered: false, messageCount: 8, ...target },
    ],
    [
      'basic.consume',
      method('basic.consume', 1, short(0), text(queue), text(consumerTag), bits(), long(0)),
      { queue, consumerTag },
    ],
    ['basic.qos', method('basic.qos', 1, long(0), short(10), bits()), { prefetchCount: 10 }],
    ['basic.cancel', build.basicCancel(1, consumerTag), { consumerTag }],
    ['queue.declare', declare(queue), { queue, passive: false }],
    [
      'queue.declare-ok',
      method('queue.declare-ok', 1, text(queue), long(3), long(0)),
      { queue, messageCount: 3 },
    ],
    [
      'queue.bind',
      method('queue.bind', 1, short(0), text(queue), ...targetBytes, bits(), long(0)),
      { queue, ...target },
    ],
    [
      'exchange.declare',
      method('exchange.declare', 1, short(0), text('events'), text('topic'), bits(true), long(0)),
      { exchange: 'events', passive: true },
    ],
    ['channel.close', build.channelClose(1, reason), reason],
    ['connection.close', build.connectionClose(reason), reason],
    ['channel.open', method('channel.open', 1, text('')), {}],
  ])('reads the arguments of %s', (_, bytes, expected) => {
    expect(details(bytes)).toEqual([expected]);
  });

  it('reads methods with content, and the sizes of the content', () => {
    const sizes = [{ bodySize: 4 }, { bodySize: 1 }, { bodySize: 3 }];
    const published = { exchange: '', routingKey: 'key', mandatory: true };
    expect(details(publish('key', 'body'))).toEqual([published, ...sizes]);
    const delivered = { consumerTag, deliveryTag: 6, redelivered: true, ...target };
    expect(details(deliver(6, 'body'))).toEqual([delivered, ...sizes]);
  });

  it('rejects arguments that exceed the frame', () => {
    expect(() => details(method('basic.ack', 1, short(1)))).toThrow(FrameError);
    expect(() => details(method('basic.cancel', 1, argument.octet(200)))).toThrow(FrameError);
  });
});

describe('fromClient', () => {
  const frame: Frame = {
    direction: 'client',
    connection: 2,
    channel: 3,
    method: 'basic.ack',
    details: { deliveryTag: 7, multiple: false },
  };

  it('matches direction, method and every wanted property', () => {
    expect(fromClient('basic.ack')(frame)).toBe(true);
    expect(fromClient('basic.ack', { connection: 2, channel: 3, deliveryTag: 7 })(frame)).toBe(
      true,
    );
    expect(fromClient('basic.nack')(frame)).toBe(false);
    expect(fromClient('basic.ack', { connection: 1 })(frame)).toBe(false);
    expect(fromClient('basic.ack', { channel: 1 })(frame)).toBe(false);
    expect(fromClient('basic.ack', { deliveryTag: 8 })(frame)).toBe(false);
    expect(fromClient('basic.ack')({ ...frame, direction: 'server' })).toBe(false);
  });
});
