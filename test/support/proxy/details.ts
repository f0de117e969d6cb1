import type { FrameName } from './methods';

/** The arguments of a method, or the size of a content. A frame has those its method carries. */
export interface FrameDetails {
  readonly deliveryTag?: number;
  readonly multiple?: boolean;
  readonly requeue?: boolean;
  readonly redelivered?: boolean;
  readonly consumerTag?: string;
  readonly prefetchCount?: number;
  readonly exchange?: string;
  readonly routingKey?: string;
  readonly mandatory?: boolean;
  readonly queue?: string;
  readonly passive?: boolean;
  readonly messageCount?: number;
  readonly replyCode?: number;
  readonly replyText?: string;
  /** Of a content header: the length of all its bodies. Of a content body: its own length. */
  readonly bodySize?: number;
}

/** Reads the arguments of a method one after the other. */
class ArgumentReader {
  private offset = 4;

  constructor(private readonly payload: Buffer) {}

  octet(): number {
    this.offset += 1;
    return this.payload.readUInt8(this.offset - 1);
  }

  short(): number {
    this.offset += 2;
    return this.payload.readUInt16BE(this.offset - 2);
  }

  long(): number {
    this.offset += 4;
    return this.payload.readUInt32BE(this.offset - 4);
  }

  longLong(): number {
    return this.long() * 0x100000000 + this.long();
  }

  text(): string {
    const length = this.octet();
    this.offset += length;
    if (this.offset > this.payload.length) {
      throw new RangeError('a string goes beyond the end of the frame');
    }
    return this.payload.toString('utf8', this.offset - length, this.offset);
  }

  /** Eight bits that share an octet, the first argument in the lowest. */
  bits(): (position: number) => boolean {
    const octet = this.octet();
    return (position) => (octet & (1 << position)) !== 0;
  }
}

type DetailsReader = (read: ArgumentReader) => FrameDetails;

const readClose: DetailsReader = (read) => ({ replyCode: read.short(), replyText: read.text() });

const readConsumerTag: DetailsReader = (read) => ({ consumerTag: read.text() });

const readQueue: DetailsReader = (read) => {
  read.short();
  return { queue: read.text() };
};

const readBinding: DetailsReader = (read) => ({
  ...readQueue(read),
  exchange: read.text(),
  routingKey: read.text(),
});

const readers: Partial<Record<FrameName, DetailsReader>> = {
  'connection.close': readClose,
  'channel.close': readClose,
  'connection.blocked': (read) => ({ replyText: read.text() }),
  'exchange.declare': (read) => {
    read.short();
    const exchange = read.text();
    read.text();
    return { exchange, passive: read.bits()(0) };
  },
  'queue.declare': (read) => ({ ...readQueue(read), passive: read.bits()(0) }),
  'queue.declare-ok': (read) => ({ queue: read.text(), messageCount: read.long() }),
  'queue.bind': readBinding,
  'queue.unbind': readBinding,
  'queue.purge': readQueue,
  'queue.delete': readQueue,
  'basic.qos': (read) => {
    read.long();
    return { prefetchCount: read.short() };
  },
  'basic.consume': (read) => ({ ...readQueue(read), consumerTag: read.text() }),
  'basic.consume-ok': readConsumerTag,
  'basic.cancel': readConsumerTag,
  'basic.cancel-ok': readConsumerTag,
  'basic.publish': (read) => {
    read.short();
    return { exchange: read.text(), routingKey: read.text(), mandatory: read.bits()(0) };
  },
  'basic.return': (read) => ({
    ...readClose(read),
    exchange: read.text(),
    routingKey: read.text(),
  }),
  'basic.deliver': (read) => ({
    consumerTag: read.text(),
    deliveryTag: read.longLong(),
    redelivered: read.bits()(0),
    exchange: read.text(),
    routingKey: read.text(),
  }),
  'basic.get': readQueue,
  'basic.get-ok': (read) => ({
    deliveryTag: read.longLong(),
    redelivered: read.bits()(0),
    exchange: read.text(),
    routingKey: read.text(),
    messageCount: read.long(),
  }),
  'basic.ack': (read) => ({ deliveryTag: read.longLong(), multiple: read.bits()(0) }),
  'basic.reject': (read) => ({ deliveryTag: read.longLong(), requeue: read.bits()(0) }),
  'basic.nack': (read) => {
    const deliveryTag = read.longLong();
    const bits = read.bits();
    return { deliveryTag, multiple: bits(0), requeue: bits(1) };
  },
  // A header opens with its class and weight, four octets like those of a method's numbers.
  'content.header': (read) => ({ bodySize: read.longLong() }),
};

const noDetails: FrameDetails = Object.freeze({});

/** Reads the payload of a method or content header frame; empty where no reader is known. */
export function readDetails(name: FrameName, payload: Buffer): FrameDetails {
  return readers[name]?.(new ArgumentReader(payload)) ?? noDetails;
}
