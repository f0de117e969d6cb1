import type { QueueDeclaration } from './queue-declarations';

/** The options that amqplib sends as arguments. */
const OPTIONS = {
  expires: 'x-expires',
  messageTtl: 'x-message-ttl',
  deadLetterExchange: 'x-dead-letter-exchange',
  deadLetterRoutingKey: 'x-dead-letter-routing-key',
  maxLength: 'x-max-length',
  maxPriority: 'x-max-priority',
  overflow: 'x-overflow',
  queueMode: 'x-queue-mode',
} as const;

/** The arguments of a queue as amqplib sends them: those of the declaration, and its options. */
export function wireArgumentsOf(declaration: QueueDeclaration): Record<string, unknown> {
  const args: Record<string, unknown> = { ...declaration.arguments };
  for (const [option, name] of Object.entries(OPTIONS)) {
    const value: unknown = Reflect.get(declaration, option);
    if (value !== undefined) args[name] = value;
  }
  return args;
}
