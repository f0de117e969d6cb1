import { isUtf8 } from 'node:buffer';
import type { MessageDeserializer } from '@golevelup/nestjs-rabbitmq';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { texts } from '../log/texts';
import type { IncomingMessage } from '../model/delivery';
import { decompressed } from './decompress';
import type { FailureToOutcome } from './failure-policy';
import { HandlerFailure } from './handler-failure';
import type { Handling } from './interceptor';
import { payloadStage } from './payload-stage';

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
 * @param allowNonJsonMessages whether text that is not JSON is the payload as it is.
 * @throws if the bytes are not UTF-8, the content encoding is unknown, or the text is not JSON.
 */
export function decodeJson(message: IncomingMessage, allowNonJsonMessages = false): unknown {
  const { content, properties } = message;
  if (!isPlain(properties.contentEncoding)) {
    throw new Error(texts.unknownEncoding(properties.contentEncoding));
  }
  return parsed(content, allowNonJsonMessages);
}

function parsed(content: Buffer, allowNonJsonMessages: boolean): unknown {
  if (content.length === 0) return allowNonJsonMessages ? '' : undefined;
  if (!isUtf8(content)) throw new Error(texts.invalidUtf8);
  const text = content.toString('utf8', hasByteOrderMark(content) ? 3 : 0);
  try {
    return JSON.parse(text);
  } catch (error) {
    if (allowNonJsonMessages) return text;
    throw withoutText(error);
  }
}

// The engine's own message can quote the text, which is not for logs and headers.
function withoutText(error: unknown): SyntaxError {
  const message = String(Reflect.get(Object(error), 'message'));
  const position = / at position (\d+)/.exec(message)?.[1];
  return new SyntaxError(texts.invalidJson(position, / end of JSON /.test(message)));
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
  readonly decompress: { readonly max: number } | undefined;
}

/**
 * The stage that turns bytes into the payload: decompressed if that is configured, then with a deserializer,
 * else {@link decodeJson}. A deserializer gets every body, an empty one too, and may return a promise.
 */
export function decodeStage(
  decoding: Decoding,
  toOutcome: FailureToOutcome,
  inner: Handling<DeliveryRecord>,
): Handling<DeliveryRecord> {
  const decode = decoderOf(decoding);
  return payloadStage(({ message }) => decode(message), failureOf, toOutcome, inner);
}

function failureOf(error: unknown): HandlerFailure {
  return new HandlerFailure('decode', error);
}

function decoderOf({
  deserializer,
  allowNonJsonMessages,
  decompress,
}: Decoding): (message: IncomingMessage) => unknown {
  const plain = (message: IncomingMessage): unknown =>
    deserializer === undefined
      ? decodeJson(message, allowNonJsonMessages)
      : deserializer(message.content, message);
  if (decompress === undefined) return plain;
  return (message) => {
    const { contentEncoding } = message.properties;
    const content = decompressed(message.content, contentEncoding, decompress.max);
    if (content === undefined) return plain(message);
    return content.then((body) =>
      deserializer === undefined ? parsed(body, allowNonJsonMessages) : deserializer(body, message),
    );
  };
}
