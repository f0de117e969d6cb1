import { type FrameDetails, readDetails } from './details';
import { type FrameName, methodNameOf } from './methods';

/** Who sends a frame: the client that connects to the proxy, or the broker behind it. */
export type Direction = 'client' | 'server';

/** One frame as tests see it. It keeps no reference to the bytes it was read from. */
export interface Frame {
  readonly direction: Direction;
  /** The connection's number: 1 for the first one the proxy accepts, then counting up. */
  readonly connection: number;
  readonly channel: number;
  /** The method, or `content.header`, `content.body`, `heartbeat`, `protocol.header`. */
  readonly method: FrameName;
  readonly details: FrameDetails;
}

/** Decides whether a rule or a waiting test means this frame. */
export type FramePredicate = (frame: Frame) => boolean;

/** One frame as it travels: its bytes, in the pieces in which they arrive. */
export interface RawFrame {
  readonly type: number;
  readonly channel: number;
  /** The payload's length in bytes. */
  readonly size: number;
  readonly parts: readonly Buffer[];
}

export const frameTypes = { method: 1, header: 2, body: 3, heartbeat: 8 } as const;
/** The first octet of the eight octets that open a connection, where a frame has its type. */
export const protocolHeaderType = 0x41;
export const frameEnd = 0xce;
const headerLength = 7;

/** Thrown for bytes that are no AMQP 0.9.1 frame. */
export class FrameError extends Error {
  override readonly name = 'FrameError';
}

/**
 * Splits one direction of a connection into frames, however the bytes are cut into chunks.
 * Frames refer to the chunks, nothing is copied.
 */
export class FrameParser {
  private parts: Buffer[] = [];
  private collected = 0;
  private needed = headerLength;

  /** Calls `accept` for every frame that ends in this chunk, in order. */
  push(chunk: Buffer, accept: (frame: RawFrame) => void): void {
    let offset = 0;
    while (offset < chunk.length) {
      const end = Math.min(offset + this.needed - this.collected, chunk.length);
      if (this.collected === 0 && chunk.length - offset >= headerLength) {
        const length = frameLength(chunk, offset);
        if (offset + length <= chunk.length) {
          accept(completeFrame([chunk.subarray(offset, offset + length)]));
          offset += length;
          continue;
        }
      }
      this.parts.push(chunk.subarray(offset, end));
      this.collected += end - offset;
      offset = end;
      if (this.collected === this.needed) {
        this.advance(accept);
      }
    }
  }

  private advance(accept: (frame: RawFrame) => void): void {
    if (this.needed === headerLength) {
      this.needed = frameLength(joined(this.parts), 0);
      return;
    }
    const frame = completeFrame(this.parts);
    this.parts = [];
    this.collected = 0;
    this.needed = headerLength;
    accept(frame);
  }
}

function frameLength(bytes: Buffer, offset: number): number {
  const type = bytes.readUInt8(offset);
  if (type === protocolHeaderType) {
    return headerLength + 1;
  }
  if (type !== frameTypes.heartbeat && (type < frameTypes.method || type > frameTypes.body)) {
    throw new FrameError(`${type} is not a frame type`);
  }
  return headerLength + bytes.readUInt32BE(offset + 3) + 1;
}

function completeFrame(parts: readonly Buffer[]): RawFrame {
  const first = parts[0];
  const head = first !== undefined && first.length >= headerLength ? first : joined(parts);
  const type = head.readUInt8(0);
  if (type === protocolHeaderType) {
    return { type, channel: 0, size: 0, parts };
  }
  if (parts.at(-1)?.at(-1) !== frameEnd) {
    throw new FrameError('a frame does not end with the frame end octet');
  }
  return { type, channel: head.readUInt16BE(1), size: head.readUInt32BE(3), parts };
}

/** The pieces as one buffer; copies only when there is more than one. */
export function joined(parts: readonly Buffer[]): Buffer {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
}

/** The name of the method, or of the kind of frame. */
export function nameOf(frame: RawFrame): FrameName {
  switch (frame.type) {
    case frameTypes.method: {
      if (frame.size < 4) {
        throw new FrameError('a method frame is too short for a method');
      }
      const bytes = joined(frame.parts);
      return methodNameOf(bytes.readUInt16BE(headerLength), bytes.readUInt16BE(headerLength + 2));
    }
    case frameTypes.header:
      return 'content.header';
    case frameTypes.body:
      return 'content.body';
    case frameTypes.heartbeat:
      return 'heartbeat';
    default:
      return 'protocol.header';
  }
}

/** The length of the bodies that follow this content header. */
export function bodySizeOf(header: RawFrame): number {
  const size = detailsOf(header, 'content.header').bodySize;
  return size ?? 0;
}

/** What the frame says, as far as tests need it. */
export function detailsOf(frame: RawFrame, name: FrameName): FrameDetails {
  if (frame.type === frameTypes.body) {
    return { bodySize: frame.size };
  }
  if (frame.type !== frameTypes.method && frame.type !== frameTypes.header) {
    return {};
  }
  const payload = joined(frame.parts).subarray(headerLength, headerLength + frame.size);
  try {
    return readDetails(name, payload);
  } catch (error) {
    throw new FrameError(`the arguments of ${name} cannot be read`, { cause: error });
  }
}
