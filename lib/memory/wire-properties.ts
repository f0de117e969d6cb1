import { transferTable } from './field-values';
import type { MessageProperties, Table } from './stored-message';

/** All properties of a message, in amqplib's order; a delivery has each of them. */
const NAMES = [
  'contentType',
  'contentEncoding',
  'headers',
  'deliveryMode',
  'priority',
  'correlationId',
  'replyTo',
  'expiration',
  'messageId',
  'timestamp',
  'type',
  'userId',
  'appId',
  'clusterId',
] as const;

/** The properties of a delivery as amqplib decodes them: those that are not set are undefined. */
export function decodedPropertiesOf(
  properties: MessageProperties,
  headers: Table | undefined,
): Record<string, unknown> {
  const decoded: Record<string, unknown> = {};
  for (const name of NAMES) decoded[name] = name === 'headers' ? headers : properties[name];
  return decoded;
}

/** How many bytes the properties and headers of a message take on the wire. */
export function propertyBytesOf(properties: MessageProperties, headers: Table | undefined): number {
  let bytes = 2 + (headers === undefined ? 0 : transferTable(headers).bytes);
  for (const name of NAMES) {
    const value = properties[name];
    if (value === undefined || name === 'headers') continue;
    if (typeof value === 'string') bytes += 1 + Buffer.byteLength(value);
    else bytes += name === 'timestamp' ? 8 : 1;
  }
  return bytes;
}
