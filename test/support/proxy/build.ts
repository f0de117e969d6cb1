import { frameEnd, frameTypes } from './frames';
import { type MethodName, numbersOf } from './methods';

/** The pieces of a method's arguments, in the protocol's own types. */
export const argument = {
  octet: (value: number): Buffer => Buffer.from([value]),

  short(value: number): Buffer {
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(value);
    return bytes;
  },

  long(value: number): Buffer {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return bytes;
  },

  longLong(value: number): Buffer {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return bytes;
  },

  text(value: string): Buffer {
    const bytes = Buffer.from(value, 'utf8');
    return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  },

  /** Up to eight bits in one octet, the first in the lowest. */
  bits: (...values: boolean[]): Buffer =>
    Buffer.from([values.reduce((octet, value, index) => octet | (Number(value) << index), 0)]),
} as const;

function frame(type: number, channel: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(7);
  header.writeUInt8(type, 0);
  header.writeUInt16BE(channel, 1);
  header.writeUInt32BE(payload.length, 3);
  return Buffer.concat([header, payload, Buffer.from([frameEnd])]);
}

/** The eight octets with which a client opens a connection. */
export const protocolHeader: Buffer = Buffer.from('AMQP\u0000\u0000\u0009\u0001', 'latin1');

/** A heartbeat frame. */
export const heartbeat: Buffer = frame(frameTypes.heartbeat, 0, Buffer.alloc(0));

/** A method frame with these arguments. */
export function method(name: MethodName, channel: number, ...values: Buffer[]): Buffer {
  const [classNumber, methodNumber] = numbersOf(name);
  const numbers = [argument.short(classNumber), argument.short(methodNumber)];
  return frame(frameTypes.method, channel, Buffer.concat([...numbers, ...values]));
}

/** A content header for bodies of this total length; without properties unless some are given, encoded. */
export function contentHeader(
  channel: number,
  bodySize: number,
  { flags, properties }: { readonly flags: number; readonly properties: Buffer } = NO_PROPERTIES,
): Buffer {
  const start = [argument.short(60), argument.short(0), argument.longLong(bodySize)];
  const payload = Buffer.concat([...start, argument.short(flags), properties]);
  return frame(frameTypes.header, channel, payload);
}

const NO_PROPERTIES = { flags: 0, properties: Buffer.alloc(0) };

/** A content body frame. */
export function contentBody(channel: number, body: Buffer): Buffer {
  return frame(frameTypes.body, channel, body);
}

export interface CloseArguments {
  readonly replyCode: number;
  readonly replyText: string;
}

const closeArguments = ({ replyCode, replyText }: CloseArguments): Buffer[] => [
  argument.short(replyCode),
  argument.text(replyText),
  argument.short(0),
  argument.short(0),
];

/** `channel.close`, as either side sends it. */
export function channelClose(channel: number, reason: CloseArguments): Buffer {
  return method('channel.close', channel, ...closeArguments(reason));
}

/** `channel.close-ok`, the answer to `channel.close`. */
export function channelCloseOk(channel: number): Buffer {
  return method('channel.close-ok', channel);
}

/** `connection.close`, as either side sends it. */
export function connectionClose(reason: CloseArguments): Buffer {
  return method('connection.close', 0, ...closeArguments(reason));
}

/** `basic.ack`: a consumer's acknowledgement, or a broker's confirm. */
export function basicAck(channel: number, deliveryTag: number, multiple = false): Buffer {
  return method('basic.ack', channel, argument.longLong(deliveryTag), argument.bits(multiple));
}

/** `basic.nack`: a consumer's refusal, or a broker's negative confirm. */
export function basicNack(
  channel: number,
  deliveryTag: number,
  { multiple = false, requeue = false }: { multiple?: boolean; requeue?: boolean } = {},
): Buffer {
  return method(
    'basic.nack',
    channel,
    argument.longLong(deliveryTag),
    argument.bits(multiple, requeue),
  );
}

/** `basic.cancel` without an answer wanted, as a broker sends it when a queue goes away. */
export function basicCancel(channel: number, consumerTag: string): Buffer {
  return method('basic.cancel', channel, argument.text(consumerTag), argument.bits(true));
}
