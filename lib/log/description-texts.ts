import { found, listed, queueText, reasonText } from './format';

/** What becomes of messages, and how a server differs, as the command line shows it. */
export const descriptionTexts = {
  versionInvalid: (text: string): string =>
    `rabbitmq: expected a version such as '4.3'; found ${found(text)}`,
  notConsumed: 'not consumed (registerHandlers: false)',
  missingOnServer: (what: string, name: string, isDeclared: boolean): string =>
    `${what} "${name}" does not exist${isDeclared ? '; the application declares it' : ' and is not declared by the application'}`,
  differentOnServer: (what: string, name: string, error: unknown): string =>
    `${what} "${name}": ${reasonText(error)}`,
  noDifference: 'no difference',
  notVisible:
    'Not visible over AMQP: bindings, the types of exchanges, and policies, which can set limits, TTLs and dead-letter exchanges of queues.',
  notCompared: (queue: string | undefined, argument: string, version: string): string =>
    `${queueText(queue)}: RabbitMQ ${version} does not compare ${argument}.`,
  notConnected: (connection: string): string => `connection "${connection}": not connected`,
  foreignExchange: (name: string): string =>
    `exchange "${name}" is not declared by the application: it has to exist before the definitions are imported.`,
  noSuchModule: (path: string, name: string | undefined, names: readonly string[]): string =>
    `${path}: expected ${name === undefined ? 'one module' : `a module ${name}`}; found the exports ${listed(names) || 'of an empty file'}. Name the root module: ./dist/app.module.js#AppModule`,
  noSettleModule: (reference: string): string =>
    `${reference}: SettleModule is not imported, so there are no subscriptions`,
  aPredicate: 'a predicate',
  decidedByFunction: 'a function decides for each error',
  firstThen: (first: string, later: string): string => `${first}; if it was redelivered: ${later}`,
  lostNoAck: 'lost: RabbitMQ removed the message as it delivered it (noAck)',
  removedNoAck: 'nothing: RabbitMQ removed the message as it delivered it (noAck)',
  redeliveredUncounted: 'redelivered at once; a classic queue does not count it as an attempt',
  redeliveredCounted: 'redelivered at once, counted as an attempt',
  requeuedCounted: 'requeued, counted as an attempt',
  requeuedUncounted: 'requeued, not counted as an attempt',
  delayedByBroker: (backoff: string): string => `requeued; RabbitMQ delays it (${backoff})`,
  waits: (delays: string): string => `waits ${delays} in a queue, then the next attempt`,
  pausesFor: (duration: string): string =>
    `the subscription pauses for ${duration}; the message is requeued without an attempt`,
  rejectedAndDeleted: 'rejected and deleted, unless a policy dead-letters it',
  failFastRedelivered: 'left unacknowledged and redelivered; the application shuts down',
};
