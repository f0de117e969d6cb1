import {
  durationText,
  errorText,
  found,
  listed,
  type MessageFacts,
  messageText,
  named,
  queueText,
  reasonText,
  shapeOf,
} from './format';

/** A failure as a log line shows it. */
export interface FailureFacts {
  readonly error: unknown;
}

const WHY_ONCE = '(Logged once.)';
const LONGEST_NAME = 100;

/** What became of a message, and what its handler and policies did. */
export const messageTexts = {
  // One line for each message: what happened to it, then why.
  result: (delivery: MessageFacts, result: string, failure: FailureFacts | undefined): string =>
    `${messageText(delivery)}: ${result}.${failure === undefined ? '' : ` ${errorText(failure.error)}`}`,
  acknowledged: 'acknowledged',
  skipped: 'acknowledged although its handler failed (policy skip)',
  requeued: 'requeued',
  republished: (delayMs: number): string =>
    delayMs === 0
      ? 'republished for its next attempt'
      : `will be retried in ${durationText(delayMs)}`,
  deadLettered: (queue: string, reason: string): string =>
    `moved to "${queue}", reason "${reason}"`,
  rejectedToRoute: (queue: string): string => `rejected; RabbitMQ moves it to "${queue}"`,
  rejectedToExchange: (exchange: string): string =>
    `rejected; RabbitMQ moves it to exchange "${exchange}"`,
  rejected: 'rejected (no deadLetter configured)',
  rejectedUnpublished:
    'rejected; RabbitMQ deletes it unless the queue has a dead-letter exchange of its own',
  failFast: 'left unacknowledged; shutting down (policy failFast)',
  failFastNoAck: 'shutting down (policy failFast); RabbitMQ already removed the message (noAck)',
  noAck: (outcome: string): string =>
    outcome === 'ack'
      ? 'handled (noAck)'
      : `cannot ${outcome}: RabbitMQ already removed the message (noAck)`,
  requeuedOnShutdown: 'requeued without being handled: the subscription is stopping',
  requeuedWhilePaused: 'requeued without an attempt: the subscription is paused',
  requeuedForPause: (ms: number): string =>
    `requeued without an attempt; the subscription pauses for ${durationText(ms)}`,
  lostOnShutdown: 'lost: the subscription is stopping and the message cannot be requeued (noAck)',
  abandoned: 'not acknowledged: its channel closed first. It will be redelivered and may run twice',
  republishFailed: (queue: string, tries: number, error: unknown): string =>
    `could not be published to "${queue}" (${tries === 1 ? '1 try' : `${tries} tries`}, last: ${reasonText(error)}). Requeued`,
  unpublishable: (queue: string, error: unknown, result: string): string =>
    `could not be published to "${queue}" (${reasonText(error)}); ${result}`,
  publishedWithout: (queue: string, names: readonly string[], refusal: unknown): string => {
    const shown = names.map((name) => name.slice(0, LONGEST_NAME));
    const without = `published to "${queue}" without ${listed(shown)}`;
    return refusal === undefined
      ? `${without}: not encodable, or too large for a frame`
      : `${without}: RabbitMQ refused the whole message (${reasonText(refusal)})`;
  },
  poisonMessage: (
    delivery: MessageFacts,
    acquired: number,
    limit: number,
    isEnded: boolean,
  ): string =>
    `${messageText(delivery)}: delivered ${acquired} times (limit ${limit}) without completing an attempt; ${isEnded ? 'treated as a poison message' : 'handled again, since no deadLetter is configured'}. Check whether the handler exceeds RabbitMQ's consumer timeout.`,
  internalError: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: internal error while settling; requeued. Please report this.`,

  // Handlers, policies and enhancers.
  unexpectedResult: (delivery: MessageFacts, value: unknown): string =>
    `${messageText(delivery)}: the handler returned ${shapeOf(value)}, which is not an outcome; the message was acknowledged. Return nothing, ack(), drop(), retry(), retryAfter() or pauseFor(). ${WHY_ONCE}`,
  endlessRetry: (outcome: string): string =>
    `${outcome}() without retry.attempts: nothing ends the redeliveries of this message. Set retry: { attempts }. ${WHY_ONCE}`,
  endlessPolicies: (policies: readonly string[]): string =>
    `${listed(policies)} without retry.attempts: nothing ends the redeliveries of a message. Set retry: { attempts }.`,
  invalidDelay: (
    delivery: MessageFacts,
    source: 'outcome' | 'pause' | 'backoff',
    value: unknown,
  ): string => {
    const given = source === 'outcome' ? 'retryAfter' : 'pauseFor';
    return `${messageText(delivery)}: ${source === 'backoff' ? `retry.backoff returned ${found(value)}, which is not a valid delay; using the default backoff` : `${given}(${found(value)}) is not a valid delay; using the configured backoff`}`;
  },
  noDelayOnServerNamedQueue: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: delayed retries are not available on server-named queues; retrying immediately`,
  andAfterFailed: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: a callback of andAfter() failed; the message is already settled`,
  predicateReturnedPromise: 'A predicate must return a boolean; found a promise',
  policyReturnedPromise: 'A policy must return an outcome; found a promise',
  policyThrew: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: a policy function threw; the default policy applies`,
  policyReturned: (delivery: MessageFacts, value: unknown): string =>
    `${messageText(delivery)}: a policy function returned no outcome: found ${found(value)}; the default policy applies`,
  isPanicThrew: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: isPanic of SettleModule threw; the error is classified without it`,
  killSwitchThrew: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: the predicate killSwitch.on threw; it counts as no match`,
  ruleThrew: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: a predicate of an onError rule threw; it counts as no match`,
  enhancerRaised: (
    delivery: MessageFacts,
    { entered, name }: { readonly entered: boolean; readonly name: string },
  ): string =>
    `${messageText(delivery)}: ${name} threw ${entered ? 'after' : 'before'} the handler started`,
  swallowedError: (delivery: MessageFacts, filter: string): string =>
    `${messageText(delivery)}: the exception filter ${filter} handled the error without an outcome, so the error stands and its policy applies. Return ack() to acknowledge the message. ${WHY_ONCE}`,
  oneOf: (names: readonly string[]): string =>
    names.length === 1 ? `${names[0]}` : `one of ${names.join(', ') || 'the enhancers'}`,
  aPipe: 'a pipe of a parameter',
  nextCalledTwice: (name: string): string =>
    `Interceptor${named(name)} called next() twice; expected at most one call`,
  interceptorResolved: (value: unknown): string =>
    `An interceptor resolved with ${shapeOf(value)}, which is not an outcome; expected the result of next() or another outcome`,
  unmatched: (queue: string, routingKey: string, type: unknown): string =>
    `No method of queue "${queue}" takes the message (routing key ${found(routingKey)}, type ${found(type)})`,
  heldForRetry: (delayMs: number): string =>
    `stays unacknowledged and keeps the order of its key; handled again in ${durationText(delayMs)}`,
  orderStuck:
    'not handled within its attempts and order.hold; the subscription is paused, so that no later message overtakes it',
  hotKey: (
    queue: string | undefined,
    { key, deliveries }: { readonly key: string; readonly deliveries: number },
    prefetch: number,
    ms: number,
  ): string =>
    `${queueText(queue)}: more than half of the prefetched messages have had the key ${found(key)} for ${durationText(ms)}, now ${deliveries} of ${prefetch}; messages with other keys are held back. Raise the prefetch, or let the key have less to do. (Logged once until it has less than a quarter.)`,
  hotKeyEnded: (queue: string | undefined, key: string): string =>
    `${queueText(queue)}: less than a quarter of the prefetched messages have the key ${found(key)} again.`,
  batchResult: (size: number, value: unknown): string =>
    `a batch of ${size} needs nothing, one outcome, or a list of ${size} outcomes; found ${shapeOf(value)}`,
  timedOut: (handler: string, ms: number): string =>
    `${handler} exceeded its timeout of ${durationText(ms)}`,
  unknownEncoding: (encoding: unknown): string =>
    `Unknown content encoding ${found(encoding)}; expected none or UTF-8. Use decompress for gzip, deflate and br, a deserializer for other encodings`,
  severalEncodings: (encoding: unknown): string =>
    `Several content encodings ${found(encoding)}; expected one of gzip, deflate, br`,
  tooLargeDecompressed: (max: string): string =>
    `The decompressed body is larger than decompress.max (${max})`,
  invalidJson: (position: string | undefined, isCutOff: boolean): string => {
    const where = position === undefined ? '' : ` (at position ${position})`;
    return `The body is not valid JSON${isCutOff ? ' (it ends too early)' : where}`;
  },
  invalidUtf8: 'The body is not valid UTF-8. Use a deserializer for other encodings',
  signalChannelLost: (handler: string): string =>
    `The channel of ${handler} closed; its unacknowledged messages will be redelivered`,
};
