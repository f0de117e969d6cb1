import { isUtf8 } from 'node:buffer';
import type { MessageDeserializer } from '@golevelup/nestjs-rabbitmq';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { isThenable } from '../model/thenable';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';

// Labels of bodies that are UTF-8 text as they are: no encoding, charsets that UTF-8 contains, transfer
// encodings that change nothing, and the formats and types that clients write here by mistake.
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set([
  ...['', 'identity', 'none', 'null'],
  ...['utf-8', 'utf8', 'utf-8-sig', 'us-ascii', 'ascii', 'ansi-x3.4-1968', '7bit', '8bit'],
  ...['json', 'application/json', 'text/json', 'text/plain', 'text', 'plain', 'string'],
]);

/**
 * The default decoder: JSON in UTF-8, a byte order mark skipped; an empty body is `undefined`, or the empty
 * text with `allowNonJsonMessages`.
 * @param allowNonJsonMessages whether text that is no JSON is handed over as a text.
 * @throws where the bytes are no UTF-8, the content encoding is unknown, or the text is no JSON.
 */
export function decodeJson(message: IncomingMessage, allowNonJsonMessages = false): unknown {
  const { content, properties } = message;
  if (!isPlain(properties.contentEncoding)) {
    throw new Error(texts.unknownEncoding(properties.contentEncoding));
  }
  if (content.length === 0) return allowNonJsonMessages ? '' : undefined;
  if (!isUtf8(content)) throw new Error(texts.invalidUtf8);
  const text = content.toString('utf8', hasByteOrderMark(content) ? 3 : 0);
  if (!allowNonJsonMessages) return JSON.parse(text);
  try {
    return JSON.parse(text);
  } catch {
    return text; // The option says that such text is a payload.
  }
}

// `application/json; charset="utf-8"`: every part has to be plain.
function isPlain(encoding: unknown): boolean {
  if (encoding === undefined || encoding === null) return true;
  if (typeof encoding !== 'string') return false;
  return encoding.split(';').every((part) => {
    const label = part.trim().toLowerCase().replaceAll('_', '-').replaceAll('"', '');
    return PLAIN_ENCODINGS.has(label.startsWith('charset=') ? label.slice(8) : label);
  });
}

function hasByteOrderMark(content: Buffer): boolean {
  return content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf;
}

/** How bodies are decoded. */
export interface Decoding {
  readonly deserializer: MessageDeserializer | undefined;
  readonly allowNonJsonMessages: boolean;
}

/**
 * The stage that turns bytes into the payload, with a deserializer, else {@link decodeJson}. A
 * deserializer gets every body, an empty one too, and may return a promise.
 */
export function decodeStage(
  { deserializer, allowNonJsonMessages }: Decoding,
  toOutcome: FailureToOutcome,
  inner: Handling<DeliveryRecord>,
): Handling<DeliveryRecord> {
  const decode = (message: IncomingMessage): unknown =>
    deserializer === undefined
      ? decodeJson(message, allowNonJsonMessages)
      : deserializer(message.content, message);
  const later = async (payload: PromiseLike<unknown>, delivery: DeliveryRecord) => {
    try {
      delivery.payload = await payload;
      delivery.isDecoded = true;
    } catch (error) {
      return toOutcome(new HandlerFailure('decode', error), delivery);
    }
    // A handler is not started for a delivery that has timed out or lost its channel meanwhile.
    const { abortReason } = delivery;
    return abortReason === undefined
      ? inner(delivery)
      : toOutcome(new HandlerFailure('body', abortReason), delivery);
  };
  return (delivery) => {
    try {
      const payload = decode(delivery.message);
      if (isThenable(payload)) return later(payload, delivery);
      delivery.payload = payload;
      delivery.isDecoded = true;
    } catch (error) {
      return toOutcome(new HandlerFailure('decode', error), delivery);
    }
    return inner(delivery);
  };
}
