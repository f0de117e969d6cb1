import {
  counted,
  durationText,
  errorText,
  found,
  listed,
  type MessageFacts,
  messageText,
  queueText,
  roughDurationText,
} from './format';
import type { LogKind } from './kinds';
import { grantText } from './missing-right';

/** What a kill switch has counted, the window in ms. */
export interface WindowFacts {
  readonly attempts: number;
  readonly failures: number;
  readonly window: number;
}

/** The application: its modules, its subscriptions, its shutdown, and the log itself. */
export const applicationTexts = {
  suppressed: (kind: LogKind, count: number): string =>
    `suppressed ${count} similar [${kind}] ${count === 1 ? 'line' : 'lines'}`,
  loggerThrew: (thrown: string, line: string): string =>
    `The logger threw ${thrown} when it was given: ${line}`,

  missingModule: (classes: readonly string[]): string =>
    `SettleModule is not imported, so nothing consumes the queues of @Subscribe in ${listed(classes)}. Add SettleModule.forRoot() to the imports of the root module.`,
  unusedHandlers: (classes: readonly string[]): string =>
    `not in the providers of any module, so @Subscribe has no effect there: ${listed(classes)}.`,
  moduleWithoutOptions:
    'SettleModule: expected forRoot() or forRootAsync() in the imports of a module; found the class itself',
  moduleTwice:
    'SettleModule: expected forRoot or forRootAsync once in an application; found it twice',
  ignoredErrorBehavior: (connection: string, behavior: string): string =>
    `RabbitMQModule: connection "${connection}": defaultSubscribeErrorBehavior ${behavior} does not apply to @Subscribe. Set defaults: { onError } of SettleModule: 'skip' for ACK, 'drop' for NACK.`,
  interceptorNotProvided: (name: string): string =>
    `SettleModule: interceptors: ${name}: expected a singleton provider of the application; found none. Add it to the providers of a module`,
  requestScopeExpected: (handler: string, isTransient: boolean): string => {
    const scope = isTransient
      ? 'transient'
      : 'request-scoped, itself or by what it or its enhancers inject';
    return `${handler}: requestScope: expected true, since the provider is ${scope}; found false`;
  },
  undecoratedParameter: (handler: string, index: number): string =>
    `${handler}: parameter ${index}: expected a decorator, since another parameter has one; found none. Only the first parameter can go without and receives the payload`,
  classEnhancerOnController: (handler: string, kind: string, name: string): string =>
    `${handler}: ${kind}: expected instances; found the class ${name}. Nest ignores it on a controller here; use new ${name}(...), or move the method to a provider`,
  requestScopedEnhancers: (names: readonly string[]): string =>
    `request-scoped global enhancers do not run for subscriptions without requestScope: true: ${names.join(', ')}`,
  noConnectionFor: (
    handler: string,
    wanted: string | undefined,
    names: readonly string[],
  ): string =>
    names.length === 0
      ? `${handler}: connection: expected an AmqpConnection in the application; found none. Import RabbitMQModule.forRoot(...)`
      : `${handler}: connection: expected one of ${names.map((name) => `"${name}"`).join(', ')}; found ${found(wanted)}`,
  missingHandlerOptions: (handler: string, name: string, connection: string): string =>
    `${handler}: name: expected an entry "${name}" in the handlers of connection "${connection}"; found none`,
  missingRoutingKey: (handler: string, exchange: string): string =>
    `${handler}: routingKey: expected a key, since exchange "${exchange}" routes by it; found none. '' binds to the empty key`,
  sharedQueue: (one: string, other: string, queue: string): string =>
    `${other}: queue "${queue}" is already consumed by ${one}; each handler would receive only some of the messages. Give them a condition each: when: { routingKey, type or header }`,
  sharedOption: (
    handler: string,
    option: string,
    other: string,
    expected: unknown,
    value: unknown,
  ): string =>
    `${handler}: ${option}: expected that of ${other}, which shares the queue and its consumer: ${found(expected)}; found ${found(value)}`,
  sameCondition: (handler: string, other: string): string =>
    `${handler}: when: expected a condition of its own; found that of ${other}, which takes all these messages`,
  nothingUnmatched: (handler: string, other: string): string =>
    `${handler}: onUnmatched: expected no such option, since ${other} has no when and takes every message that no other method takes`,
  sharedWithGolevelup: (handler: string, other: string, queue: string): string =>
    `${handler}: queue "${queue}" is also consumed by ${other} (@RabbitSubscribe or @RabbitRPC); each handler would receive only some of the messages`,
  sharedConsumerTag: (one: string, other: string, tag: string): string =>
    `${other}: queueOptions.consumerOptions.consumerTag: "${tag}" is already used by ${one}; consumer tags must differ`,
  refused: (handler: string, queue: string | undefined, error: unknown): string =>
    `${handler}: RabbitMQ refused to declare or consume ${queueText(queue)}: ${[errorText(error), grantText(error)].filter(Boolean).join('. ')}`,
  noSuchSubscription: (
    handler: string,
    name: string | undefined,
    names: readonly string[],
  ): string =>
    names.length === 0
      ? `${handler}: expected a subscription${name === undefined ? '' : ` named "${name}"`}; found none`
      : `${handler}: expected the name of one of its subscriptions, ${names.map((one) => `"${one}"`).join(', ')}; found ${found(name)}`,

  globalPipes: (names: readonly string[]): string =>
    `global pipes apply to the payload, whose parameter has no decorator: ${listed(names)}.`,
  disabled: (connection: string): string =>
    `not consuming: connection "${connection}" has registerHandlers: false.`,
  paused: (queue: string | undefined): string => `${queueText(queue)}: paused.`,
  pausedFor: (queue: string | undefined, ms: number): string =>
    `${queueText(queue)}: paused for ${durationText(ms)} by pauseFor().`,
  killSwitchTripped: (
    queue: string | undefined,
    { attempts, failures, window }: WindowFacts,
    pauseMs: number,
    error: unknown,
  ): string => {
    const counted = `${failures} of ${attempts} attempts failed within ${durationText(window)}`;
    const probed = attempts === 1 && failures === 1 ? 'the last attempt failed' : counted;
    const what = attempts === 0 ? 'by hand' : probed;
    const why = error === undefined ? '' : ` ${errorText(error)}`;
    return `${queueText(queue)}: kill switch tripped: ${what}. Paused for ${durationText(pauseMs)}.${why}`;
  },
  killSwitchProbing: (queue: string | undefined): string =>
    `${queueText(queue)}: kill switch: trying one message.`,
  killSwitchClosed: (queue: string | undefined): string =>
    `${queueText(queue)}: kill switch closed: a message was handled. Consuming as before.`,
  resumed: (queue: string | undefined): string => `${queueText(queue)}: resumed.`,
  stuckDelivery: (delivery: MessageFacts, ageMs: number): string =>
    `${messageText(delivery)}: in flight for ${roughDurationText(ageMs)}. A handler that never ends occupies one of the prefetch slots; 'timeout' limits it.`,

  shuttingDown: 'The application is shutting down',
  shutdownBegins: (subscriptions: number, inFlight: number): string =>
    `closing ${counted(subscriptions, 'subscription')}, ${counted(inFlight, 'message')} in flight.`,
  shutdownEnds: (ms: number): string => `all subscriptions closed after ${durationText(ms)}.`,
  shutdownFailed: 'error during shutdown, continuing.',
  shutdownTimedOut: (handler: string, count: number, limitMs: number): string =>
    `${handler}: shutdownTimeout (${durationText(limitMs)}) expired with ${counted(count, 'message')} still running; requeued.`,
  exiting: (handler: string): string => `${handler} failed fast; exiting with code 1.`,
  shutdownHookFailed: 'a shutdown hook failed; exiting with code 1.',
  onFailFastFailed: 'onFailFast failed; exiting with code 1.',
  observerTwice: 'SettleOpenTelemetryModule: expected it once in an application; found it twice',
  observerThrew: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: tracing threw; the delivery is handled without a span.`,
  openTelemetryOption: (option: string, expected: string, value: unknown): string =>
    `SettleOpenTelemetryModule: ${option}: expected ${expected}; found ${found(value)}`,
  eventListenerThrew: (events: string): string => `a subscriber of ${events} threw; continuing.`,
};
