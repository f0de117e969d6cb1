import {
  backoffText,
  errorText,
  found,
  idText,
  type MessageFacts,
  messageText,
  named,
  policyText,
  type SubscriptionFacts,
  secondsText,
} from './texts';

/** Every text that this library shows to people: one place for names, order and tone. */
export const messages = {
  // What options are to be.
  durationExpected: "a number of ms or a text such as '30s', at most 49 days",
  policyExpected: "'failFast', 'failFastOnce', 'drop', 'skip', 'retry', 'retryAfter' or an outcome",
  matchExpected:
    'on() with a class, a list of classes or a predicate; a class that is undefined may come of a circular import',
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
      errorBehavior: "onError: 'drop' in the place of NACK, 'skip' of ACK, 'retry' of REQUEUE",
      batchOptions: 'messages come one at a time; prefetch says how many at once',
      assertQueueErrorHandler: 'a refused queue is reported by started and the registry',
      usePersistentReplyTo: '@Subscribe sends no replies; keep @RabbitRPC for these',
    };
    const hint = Object.hasOwn(instead, option) ? instead[option] : undefined;
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
  answerAtOnce: 'A predicate is to answer at once; found a promise',
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

  // What became of a message.
  decided: (told: {
    readonly delivery: MessageFacts;
    readonly attempts: number | undefined;
    readonly failure: { readonly cause: string; readonly error: unknown } | undefined;
    readonly fate: string;
  }): string => {
    const { delivery, attempts, failure, fate } = told;
    const of = attempts === undefined ? '' : ` of ${attempts}`;
    const why = failure === undefined ? '' : ` ${failure.cause}: ${errorText(failure.error)};`;
    return `${messageText(delivery)}, attempt ${delivery.attempt}${of}:${why} ${fate}`;
  },
  fates: {
    acknowledge: 'acknowledged all the same',
    requeue: 'goes back to the queue',
    leaveUnsettled: 'left unsettled, the service stops',
    run: 'runs',
  },
  fateAgain: (delay: string): string =>
    delay === '' ? 'comes again' : `comes again after ${delay}`,
  fateDeadLetter: (queue: string, reason: string): string =>
    `goes to the dead-letter queue "${queue}" with the reason ${reason}`,
  fateRejected:
    "rejected; it is discarded unless the queue has a dead-letter route of its own. 'deadLetter' keeps such messages",
  fateNoAck: (kind: string): string =>
    kind === 'ack'
      ? 'noAck, nothing to settle'
      : `noAck: the message is already gone, ${kind} can't be carried out`,
  fateNoAckPanic: 'noAck: the message is already gone, the service stops',
  acquiredTooOften: (delivery: MessageFacts, acquired: number): string =>
    `${messageText(delivery)}: handed out ${acquired} times, at attempt ${delivery.attempt}: released again and again, or its acknowledgement always takes too long. More than retry.acquisitions, so it is poison, as at the cap`,
  released: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: released, the service is stopping`,
  lostWhileStopping: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: noAck, and the service is stopping: the message is gone`,
  abandoned: (delivery: MessageFacts): string =>
    `${messageText(delivery)}: settlement skipped, its channel is gone; the broker hands it out again`,
  copyFailed: (delivery: MessageFacts, queue: string): string =>
    `${messageText(delivery)}: the copy to "${queue}" was not confirmed; the original is released and the intake pauses`,
  endlessRetry:
    'retry() without a declaration: the message goes back to the queue, and nothing ends the loop but the delivery limit of a quorum queue, 20 from RabbitMQ 4.0 on, at which the broker moves or deletes the message. Declare retry: { attempts }. Said once',
  unusableDelay: (source: 'outcome' | 'backoff', value: unknown): string =>
    `${source === 'outcome' ? 'retryAfter()' : 'retry.backoff'}: expected a number of ms or a text such as '30s', at most 49 days; found ${found(value)}. The ${source === 'outcome' ? 'backoff' : 'default backoff'} takes its place`,
  noDelayOnServerNamedQueue:
    'retryAfter() on a queue that the server names: what waits would outlive the queue, so the message comes again at once',
  afterWorkThrew: 'work given to andAfter() threw; the settlement stands',

  // RabbitMQ.
  channelClosed: 'the channel was closed',
  cancelledByServer: (queue: string): string =>
    `the server cancelled the consumer of queue "${queue}": the queue was deleted, or its node went away`,
  acknowledgementOverdue: (
    { messageId, ageMs }: { readonly messageId: string | undefined; readonly ageMs: number },
    limitMs: number | undefined,
  ): string =>
    `message ${idText(messageId)} has been unsettled for ${secondsText(ageMs)}; the server waits ${limitMs === undefined ? 'for an acknowledgement no longer than its limit, 30 min unless set otherwise' : `${secondsText(limitMs)} for an acknowledgement`}. A 'timeout' below that ends such a handler`,
  settledTwice: (tag: number): string =>
    `Delivery ${tag} was to be settled twice; expected one settlement a delivery`,
  channelLost: (queue: string, reason: unknown): string =>
    `queue "${queue}": the channel is gone (${errorText(reason)}); what it had handed out comes again; consuming again`,
  cannotConsume: (queue: string | undefined, error: unknown, refused: boolean): string =>
    `queue "${queue ?? '(named by the server)'}": ${refused ? 'the broker refuses the subscription' : 'can not consume'} (${errorText(error)}); ${refused ? 'correct the options or the broker' : 'trying again'}`,
  intakePauses: (ms: number): string => `a copy failed: no new message for ${ms} ms`,
  notCounting: (queue: string): string =>
    `queue "${queue}": expected a quorum queue, which counts redeliveries; found a redelivery without any count. Retries are counted by copies from here on; correct queueType. Said once`,
  copyGivenUp: (queue: string, last: unknown): string =>
    `the copy to queue "${queue}" is given up; the last try ended: ${errorText(last)}`,
  headersLeftOut: (queue: string): string =>
    `the copy to queue "${queue}" goes without the application's headers: they can not be encoded`,
  noConnection: 'there is no connection for copies',
  limitBelowAttempts: (queue: string, attempts: number | undefined): string =>
    `queue "${queue}" exists with another x-delivery-limit; expected one above retry.attempts, ${attempts}; at its own limit the broker moves or deletes a message first`,
  negativeLimit: (version: string): string =>
    `queueOptions: x-delivery-limit: expected none; found a negative one, at which RabbitMQ ${version} deletes a message when it first comes back. Leave it out: before 4.0 there is no limit`,
  limitTooLow: (limit: number, attempts: number): string =>
    `queueOptions: x-delivery-limit: expected ${attempts - 1} or more, since retry.attempts is ${attempts}; found ${limit}, at which the broker moves or deletes a message first`,
  limitUnseen: (queue: string, attempts: number, hasDefault: boolean): string =>
    `queue "${queue}" is not declared here, and its delivery limit can't be seen; expected ${attempts - 1} or more, since retry.attempts is ${attempts}: at its limit the broker moves or deletes a message first. ${hasDefault ? 'Without one of its own or of a policy it is 20' : 'Without one of its own or of a policy there is none'}`,
  limitDeletes: (limit: number): string =>
    `a policy says 'retry' and no retry is declared: after ${limit} returns the broker deletes the message, since the queue has no dead-letter route that is known here. Declare retry: { attempts } and deadLetter`,
  brokerDelayNeeds: (version: string): string =>
    `retry.by: 'broker' needs RabbitMQ 4.3 or later; found ${version}. Leave retry.by out: copies then wait in queues of their own`,
  endsConnections: (reason: unknown): string =>
    `the server ends a connection that declares this, so it is not tried again before the next start: ${errorText(reason)}`,
  missingRoute: (exchange: string): string =>
    `queueOptions names the dead-letter exchange "${exchange}", which does not exist: what is rejected is discarded without a trace. Declare it, or use deadLetter`,

  // The application.
  unknownModuleOption: (option: string): string =>
    `SettleModule: ${option}: no such option; remove it or correct its name`,
  moduleTwice:
    'SettleModule: expected forRoot or forRootAsync once in an application; found it more than once',
  unusableScope: (handler: string, scope: string): string =>
    `${handler}: expected a provider with one instance; found a ${scope} one. Messages have no request to make another for`,
  undecoratedParameter: (handler: string, index: number): string =>
    `${handler}: parameter ${index}: expected a decorator, since another parameter has one; found none. Only the first may go without, and gets the payload`,
  classEnhancerOnController: (handler: string, kind: string, name: string): string =>
    `${handler}: ${kind}: expected instances; found the class ${name}. Nest ignores it on a controller here; give new ${name}(...), or move the method to a provider`,
  requestScopedEnhancers: (names: readonly string[]): string =>
    `Request-scoped global enhancers do not run for messages: ${names.join(', ')}`,
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
    `${other}: queue: expected a queue of its own; found "${queue}", which ${one} consumes too: each would get a part of the messages`,
  sharedConsumerTag: (one: string, other: string, tag: string): string =>
    `${other}: queueOptions.consumerOptions.consumerTag: expected a tag of its own; found "${tag}", which ${one} has too`,
  refused: (handler: string, queue: string | undefined, error: unknown): string =>
    `${handler}: queue "${queue ?? '(named by the server)'}": the broker refuses it: ${errorText(error)}`,
  noSuchSubscription: (
    handler: string,
    name: string | undefined,
    names: readonly string[],
  ): string =>
    names.length === 0
      ? `${handler}: expected a subscription${name === undefined ? '' : ` named "${name}"`}; found none`
      : `${handler}: expected the name of one of its subscriptions, ${names.map((one) => `"${one}"`).join(', ')}; found ${found(name)}`,
  skipped: (connection: string): string =>
    `does not consume: connection "${connection}" has registerHandlers: false`,
  subscription: (told: SubscriptionFacts, prefetch: number): string => {
    const { queue, queueType, retry, deadLetter, noAck } = told;
    const policies = `onError ${policyText(told.onError.otherwise)}${told.onError.rules.length > 0 ? ` after ${told.onError.rules.length} rules` : ''}, onPanic ${policyText(told.onPanic)}, onUndecodable ${policyText(told.onUndecodable)}`;
    const retries =
      retry === undefined
        ? 'no retry declared'
        : `${retry.attempts} ${retry.attempts === 1 ? 'attempt' : 'attempts'}, backoff ${backoffText(told.backoff)} by the ${retry.by}`;
    const dead =
      deadLetter === undefined
        ? 'no dead-letter queue'
        : `dead letters to "${deadLetter.queue}" by the ${deadLetter.by}`;
    const timeout = told.timeout === undefined ? 'no timeout' : `timeout ${told.timeout}ms`;
    return `queue "${queue ?? '(named by the server)'}" (${queueType}${noAck ? ', noAck' : ''}), prefetch ${prefetch}; ${retries}; ${dead}; ${timeout}; ${policies}`;
  },
  signalChannelLost: (handler: string): string =>
    `The channel of ${handler} is gone; the broker hands its deliveries out again`,
  stopping: 'The service is stopping',
  stoppingFailed: 'stopping met an error and went on',
  gaveUp: (handler: string, count: number): string =>
    `${handler}: ${count} ${count === 1 ? 'delivery' : 'deliveries'} not finished when shutdownTimeout ended; released`,
  onFailFastThrew: 'onFailFast threw; the process leaves as it does without it',
  eventListenerThrew: 'a subscriber of SettlementEvents threw',
  unforeseen: 'an unforeseen error while settling; the delivery is released',
  oldDelivery: (queue: string | undefined, age: number, inFlight: number): string =>
    `queue "${queue ?? '(named by the server)'}": the oldest delivery has been in flight for ${Math.round(age / 1000)} s, ${inFlight} in all; a handler that never ends holds a place of the prefetch. 'timeout' limits it`,
  oneOf: (names: readonly string[]): string =>
    names.length === 1 ? `${names[0]}` : `one of ${names.join(', ') || 'the enhancers'}`,

  // Tests.
  notInMemory: (what: string): string =>
    `AmqpConnection.${what} is not there in memory; SettleTest.create(metadata, { broker: 'rabbitmq', url }) takes a real server`,
  onlyInMemory: 'Only the server in memory can do this; a real one is driven from outside',
  testUrlMissing:
    "SettleTest: url: expected the URL of a server with broker: 'rabbitmq'; found none",
  neverIdle: (inFlight: number): string =>
    `Not idle after 4 s: ${inFlight} in flight. Does a handler wait for time to pass? advance() moves it`,
  closedBeforeSettled: (handler: string): string =>
    `${handler}: the application has stopped; what was to be delivered is not settled`,
  noQueueToDeliverTo: (handler: string): string =>
    `${handler}: its queue is named by the server; publish to an exchange instead`,
};
