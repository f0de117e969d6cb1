import { durationText, errorText, found, reasonText, roughDurationText } from './format';

/** What options are expected to be, and what was found instead. */
export const optionTexts = {
  durationExpected: "a number of ms or a text such as '30s', at most 49 days",
  durationInvalid: (value: unknown): string =>
    `Duration: expected a number of ms or a text such as '30s', at most 49 days; found ${found(value)}`,
  schemaExpected: 'a Standard Schema, or a class with decorators of class-validator',
  classWithoutRules: (name: string): string =>
    `the class ${name || 'without a name'} has no decorators of class-validator`,
  classNeedsPackage: (name: string, error: unknown): string =>
    `a class needs the packages class-transformer and class-validator; cannot load ${name}: ${errorText(error)}`,
  schema: (handler: string, error: unknown): string => `${handler}: schema: ${reasonText(error)}`,
  policyExpected: (names: readonly string[]): string =>
    `${names.map((name) => `'${name}'`).join(', ')}, an outcome such as drop('reason'), or a function (error, delivery) => outcome`,
  matchExpected:
    'on() with a class, a list of classes or a predicate; an undefined class can come from a circular import',
  statusesExpected: 'at least one status from 100 to 599',
  sqlStatesExpected: "at least one SQLSTATE such as '40001', or a class such as '40'",
  errorMatch: (name: string, expected: string, values: readonly unknown[]): string =>
    `${name}(): expected ${expected}; found ${found(values)}`,
  backoffExpected:
    'fixed(), linear(), exponential(), steps(), or an object with a method delay(attempt)',
  queueExpected: 'the name of a queue, 1 to 255 bytes; omit the option for a server-named queue',
  classicExpected: "'classic': a quorum queue is durable, not exclusive, and has a name",
  notWithNoAck:
    'no such option together with noAck: RabbitMQ removes the message as it delivers it',
  oneDeadLetterExchange:
    "no dead-letter exchange beside deadLetter.by: 'broker', which sets the exchange of the queue",
  endingExpected: 'another policy, or retry.attempts as a limit: such a message fails every time',
  conditionExpected: 'routingKey, type or header',
  notBesideArgument: (argument: string): string =>
    `this option or the argument '${argument}' in queueOptions, not both`,
  singleActiveExpected:
    'singleActiveConsumer: true beside it, or order.instances: 1 if only one process ever consumes the queue',
  shorterThanTimeout: (timeoutMs: number): string =>
    `less than the consumer timeout of ${durationText(timeoutMs)}`,
  prefetchOfBatches: (least: number): string =>
    `at least batch.size times batch.concurrency, which is ${least}, and at most 65 535`,
  batchWaitsTooLong: (timeoutMs: number): string =>
    `less than half of the consumer timeout of ${durationText(timeoutMs)}`,
  batchParameters: (handler: string): string =>
    `${handler}: batch: expected a method (payloads, deliveries); found decorated parameters`,
  withinPrefetch: (prefetch: number): string => `at most the prefetch, which is ${prefetch}`,
  heldBackTooLong: (prefetch: number, heldBackMs: number, timeoutMs: number): string =>
    `a rate at which a prefetch of ${prefetch} is handled within half of the consumer timeout of ${durationText(timeoutMs)}, not ${roughDurationText(heldBackMs)}: raise the rate or the timeout, or lower the prefetch`,
  clientExpected:
    "no limit, or retry.by: 'client': RabbitMQ does not know when a message failed first",
  linearExpected:
    "linear() without jitter, the only backoff that RabbitMQ's delayed retry supports",

  option: (handler: string, option: string, expected: string, value: unknown): string =>
    `${handler}: ${option}: expected ${expected}; found ${found(value)}`,
  backoff: (what: string, expected: string, value: unknown): string =>
    `Backoff: ${what}: expected ${expected}; found ${found(value)}`,
  unknownOption: (handler: string, option: string): string => {
    const hint = Object.hasOwn(REPLACEMENTS, option) ? REPLACEMENTS[option] : undefined;
    return `${handler}: ${option}: ${hint === undefined ? 'no such option of @Subscribe; remove it or correct its name' : `not an option of @Subscribe; use instead: ${hint}`}`;
  },
  differingOptions: (handler: string, option: string, queue: string): string =>
    `${handler}: ${option}: several @Subscribe on queue "${queue}" form one subscription; expected one value of this option; found two`,
  notAMethod: (where: string, what: string): string =>
    `${where}: @Subscribe expects a method of a provider; found ${what}`,
  standardDecorator: (method: string): string =>
    `@Subscribe on ${method}(): expected a legacy decorator; found a standard (stage 3) one. Nest needs "experimentalDecorators": true, and "emitDecoratorMetadata": true, in the tsconfig.json that your compiler reads (also esbuild, swc and tsx)`,
  injectUndefined: (method: string): string =>
    `@InjectSubscription(?, '${method}'): expected a class; found undefined. Is there a circular import?`,
  unknownModuleOption: (option: string): string =>
    `SettleModule: ${option}: no such option; remove it or correct its name`,
};

/** What replaces the options of @RabbitSubscribe that @Subscribe refuses. */
const REPLACEMENTS: Readonly<Record<string, string>> = {
  errorHandler: 'onError, onPanic and onInvalidPayload decide what a failure means',
  errorBehavior:
    "onError: 'drop' instead of NACK, 'skip' instead of ACK, 'retry' instead of REQUEUE",
  batchOptions: 'batch: { size, wait }, whose method receives (payloads, deliveries)',
  assertQueueErrorHandler: 'a refused queue is reported by SubscriptionRegistry.started',
  usePersistentReplyTo: '@Subscribe sends no replies; keep @RabbitRPC for these handlers',
};
