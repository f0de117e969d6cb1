import type { Options } from 'amqplib';
import { Broker } from './broker';
import { openProxy } from './proxied';
import { argument, contentBody, contentHeader, fromClient, method } from './proxy';

/** A text whose bytes are replaced on their way to the server: see {@link sendRaw}. */
export const invalidUtf8 = '~'.repeat(120);

/** Publishes to a queue; wherever {@link invalidUtf8} stands, the server receives bytes that are not UTF-8. */
export async function sendRaw(
  queue: string,
  body: unknown,
  options: Options.Publish,
): Promise<void> {
  const proxy = await openProxy();
  proxy.rewrite(fromClient('basic.publish'), (_frame, bytes) => {
    const replaced = Buffer.from(bytes);
    for (let at = replaced.indexOf(invalidUtf8); at >= 0; at = replaced.indexOf(invalidUtf8)) {
      replaced.fill(0xff, at, at + invalidUtf8.length);
    }
    return { onward: [replaced] };
  });
  const client = await Broker.connect(proxy.url);
  await client.send(queue, body, options);
  await client.close();
}

/** Publishes to a queue with headers that are texts, of any length: amqplib writes 64 kB of them at most. */
export async function sendLongHeaders(
  queue: string,
  messageId: string,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const proxy = await openProxy();
  const entries = Object.entries(headers).map(([name, value]) => {
    const bytes = Buffer.from(value);
    const tag = Buffer.from('S');
    return Buffer.concat([argument.text(name), tag, argument.long(bytes.length), bytes]);
  });
  const table = Buffer.concat(entries);
  const properties = Buffer.concat([argument.long(table.length), table, argument.text(messageId)]);
  proxy.rewrite(fromClient('basic.publish'), ({ channel }) => {
    const to = [argument.short(0), argument.text(''), argument.text(queue)];
    const publish = method('basic.publish', channel, ...to, argument.bits(false, false));
    const body = Buffer.from('{}');
    const header = contentHeader(channel, body.length, { flags: 0x2080, properties });
    return { onward: [publish, header, contentBody(channel, body)] };
  });
  const client = await Broker.connect(proxy.url);
  await client.send(queue, {});
  await client.close();
}

/** A message as bytes, which no client library has to be able to write. */
export interface RawContent {
  /** Which properties there are, as in the frame of the content header. */
  readonly flags: number;
  /** The properties, encoded. */
  readonly properties: Buffer;
  readonly body: Buffer;
}

/** Publishes messages to a queue as they are; rejects if RabbitMQ refuses one. */
export async function sendContents(queue: string, contents: readonly RawContent[]): Promise<void> {
  const proxy = await openProxy();
  let sent = 0;
  proxy.rewrite(fromClient('basic.publish'), ({ channel }) => {
    const content = contents[sent];
    sent += 1;
    if (content === undefined) throw new Error('more messages were published than were given');
    const to = [argument.short(0), argument.text(''), argument.text(queue)];
    const publish = method('basic.publish', channel, ...to, argument.bits(false, false));
    const header = contentHeader(channel, content.body.length, content);
    const body = content.body.length === 0 ? [] : [contentBody(channel, content.body)];
    return { onward: [publish, header, ...body] };
  });
  const client = await Broker.connect(proxy.url);
  try {
    await Promise.all(contents.map(() => client.send(queue, {})));
  } catch (error) {
    const closed = proxy.frames.find(({ method: name }) => name.endsWith('.close'));
    throw new Error(`${closed?.details.replyText} at message ${sent - 1} of ${contents.length}`, {
      cause: error,
    });
  }
  await client.close();
}
