import fc from 'fast-check';
import type { IncomingMessage } from '../../../lib/model/delivery';

/** A message as amqplib delivers it. */
export function messageOf(
  headers: Record<string, unknown> | undefined,
  { content = Buffer.from('{}'), ...properties }: Record<string, unknown> = {},
): IncomingMessage {
  return {
    content,
    fields: {
      ...{ consumerTag: '', deliveryTag: 1, redelivered: false },
      ...{ exchange: '', routingKey: 'dead' },
    },
    properties: { ...properties, headers },
  } as unknown as IncomingMessage;
}

/** Header values of any type that a table can hold. */
const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.string(), { maxKeys: 3 }),
  fc.record({ '!': fc.constant('timestamp'), value: fc.nat() }),
);

const anyDeath = fc.oneof(
  anyValue,
  fc.record(
    {
      ...{ queue: fc.oneof(fc.constantFrom('q', 'dead', 'q.wait.100'), anyValue) },
      ...{ reason: fc.oneof(fc.constantFrom('rejected', 'expired', 'maxlen'), anyValue) },
      ...{ count: anyValue, time: anyValue, exchange: anyValue },
      'routing-keys': fc.oneof(anyValue, fc.array(anyValue, { maxLength: 2 })),
    },
    { requiredKeys: [] },
  ),
);

const NAMES = [
  ...['reason', 'error-name', 'error-message', 'attempts-made', 'first-failed-at', 'failed-at'],
  ...['handler', 'queue', 'exchange', 'routing-key', 'attempt', 'copy', 'replays', 'replayed-at'],
].map((name) => `x-settle-${name}`);

/** Headers as anybody could have set them. */
export const anyHeaders: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(
    fc.dictionary(fc.oneof(fc.constantFrom(...NAMES), fc.string()), anyValue),
    fc.option(fc.oneof(anyValue, fc.array(anyDeath, { maxLength: 4 })), { nil: undefined }),
  )
  .map(([headers, deaths]) => ({
    ...headers,
    ...(deaths !== undefined && { 'x-death': deaths }),
  }));
