import { inspect } from 'node:util';

/** What was found, shortened to a part of a line. */
function found(value: unknown): string {
  try {
    const text = inspect(value, {
      depth: 1,
      breakLength: Number.POSITIVE_INFINITY,
      maxStringLength: 60,
    });
    return text.length > 120 ? `${text.slice(0, 117)}...` : text;
  } catch {
    return 'a value that can not be shown';
  }
}

function named(name: string): string {
  return name === '' ? '' : ` "${name}"`;
}

function idText(messageId: string | undefined): string {
  return messageId === undefined ? 'without id' : `"${messageId.slice(0, 100)}"`;
}

/** Every text that this library shows to people: one place for names, order and tone. */
export const messages = {
  // What options are to be.
  durationExpected: "a number of ms or a text such as '30s', at most 49 days",
  policyExpected: "'failFast', 'failFastOnce', 'drop', 'skip', 'retry', 'retryAfter' or an outcome",
  backoffExpected:
    'fixed(), linear(), exponential(), steps(), or an object with a method delay(attempt)',
  queueExpected:
    'the name of a queue, 1 to 255 bytes; leave the option out for a queue that the server names',
  classicExpected: "'classic': a quorum queue is durable, not exclusive, and has a name",
  notWithNoAck: 'nothing beside noAck: what is never settled can not be sent back or moved',
  oneDeadLetterRoute: 'no dead-letter route beside deadLetter: one of the two',
  endingExpected: 'a policy that ends, or retry to end it: what does not decode never will',
  linearExpected: 'linear() without jitter, the only backoff that the broker knows',

  option: (handler: string, option: string, expected: string, value: unknown): string =>
    `${handler}: ${option}: expected ${expected}; found ${found(value)}`,
  backoff: (what: string, expected: string, value: unknown): string =>
    `Backoff: ${what}: expected ${expected}; found ${found(value)}`,
  unknownOption: (handler: string, option: string): string => {
    const instead: Readonly<Record<string, string>> = {
      errorHandler: 'onError, onPanic and onUndecodable say what a failure means',
      errorBehavior: "onError: 'drop' is ACK's and NACK's place, 'retry' REQUEUE's",
      batchOptions: 'messages come one at a time; prefetch says how many at once',
      assertQueueErrorHandler: 'a refused queue is reported by started and the registry',
      usePersistentReplyTo: '@Subscribe sends no replies; keep @RabbitRPC for these',
    };
    const hint = instead[option];
    return `${handler}: ${option}: ${hint === undefined ? 'no such option of @Subscribe; remove it or correct its name' : `not an option of @Subscribe; instead: ${hint}`}`;
  },
  differingOptions: (handler: string, option: string, queue: string): string =>
    `${handler}: ${option}: several @Subscribe on queue "${queue}" are one subscription; expected this option once or alike; found two values`,
  notAMethod: (where: string, what: string): string =>
    `${where}: @Subscribe expects a method of a provider; found ${what}`,
  injectUndefined: (method: string): string =>
    `@InjectSubscription(?, '${method}'): expected a class; found undefined. Is there a circular import?`,

  // The chain.
  nextCalledTwice: (name: string): string =>
    `An interceptor${named(name)} called next() twice; expected once at most`,
  interceptorResolved: (value: unknown): string =>
    `An interceptor resolved with no outcome; expected what next() resolved with, or another outcome; found ${found(value)}`,
  timedOut: (handler: string, ms: number): string =>
    `${handler} ran longer than its timeout of ${ms} ms`,
  unknownEncoding: (encoding: unknown): string =>
    `The content encoding is unknown; expected none or UTF-8; found ${found(encoding)}. A deserializer can read others`,
  invalidUtf8: 'The body is no UTF-8. A deserializer can read other bytes',
  unexpectedResult: (value: unknown): string =>
    `the handler returned something that is no outcome, which counts as ack(); expected nothing, ack(), drop(), retry() or retryAfter(); found ${found(value)}. Said once`,
  isPanicThrew: 'isPanic of the module threw; the error is classified without it',
  ruleThrew: 'a predicate of an onError rule threw; it counts as no match',
  enhancerRaised: (
    { entered, name }: { readonly entered: boolean; readonly name: string },
    messageId: string | undefined,
  ): string =>
    `message ${idText(messageId)}: ${name} raised an error ${entered ? 'after' : 'before'} the handler's body ${entered ? 'had begun' : 'began'}`,

  // Logs themselves.
  loggerThrew: (thrown: unknown, line: string): string =>
    `The logger threw ${found(thrown)} when it was given: ${line}`,
  heldBack: (kind: string, count: number): string =>
    `${count} more ${count === 1 ? 'line' : 'lines'} of the kind "${kind}" held back`,
};
