import {
  durationText,
  errorText,
  idText,
  queueText,
  reasonText,
  roughDurationText,
} from './format';
import { grantText } from './missing-right';

/** Channels, queues and servers. */
export const rabbitmqTexts = {
  channelClosed: 'channel closed',
  cancelUnconfirmed: (ms: number): string =>
    `RabbitMQ has not confirmed within ${durationText(ms)} that the consumer is cancelled`,
  cancelledByServer: (queue: string): string =>
    `RabbitMQ cancelled the consumer of queue "${queue}": the queue was deleted or its node went down`,
  acknowledgementOverdue: (
    { messageId, ageMs }: { readonly messageId: string | undefined; readonly ageMs: number },
    limitMs: number | undefined,
  ): string => {
    const limit = limitMs === undefined ? '30m by default' : durationText(limitMs);
    return `${idText(messageId)} was not acknowledged within RabbitMQ's consumer timeout (${limit}; delivered ${roughDurationText(ageMs)} ago). Set 'timeout' below that limit`;
  },
  settledTwice: (tag: number): string =>
    `Delivery ${tag} was settled twice; expected one settlement per delivery`,
  consuming: (queue: string, afterMs: number): string =>
    `consuming queue "${queue}" again after ${roughDurationText(afterMs)}.`,
  channelLost: (
    queue: string,
    reason: unknown,
    oldest?: { readonly messageId: string | undefined },
  ): string => {
    const running = oldest === undefined ? '' : ` while processing ${idText(oldest.messageId)}`;
    return `queue "${queue}": channel closed${running} (${errorText(reason)}). Unacknowledged messages will be redelivered. Reconnecting.`;
  },
  refusedBy: (queue: string | undefined, error: unknown): string =>
    `RabbitMQ refused to declare or consume ${queueText(queue)}: ${errorText(error)}. ${grantText(error) ?? 'Fix the options or the queue.'}`,
  cannotConsume: (queue: string | undefined, error: unknown): string =>
    `cannot consume ${queueText(queue)}: ${errorText(error)}. Trying again.`,
  consumerPaused: (ms: number, queue: string | undefined): string =>
    `${queueText(queue)}: consumer paused for ${durationText(ms)} because a message could not be republished.`,
  slowStart: (queue: string): string =>
    `queue "${queue}": RabbitMQ redelivers messages of a lost consumer. They are handled one at a time, then the prefetch doubles with each success.`,
  slowStartEnded: (queue: string, prefetch: number): string =>
    `queue "${queue}": consuming with the whole prefetch of ${prefetch} again.`,
  notCounting: (queue: string): string =>
    `queue "${queue}": expected a quorum queue, which counts redeliveries; found a redelivered message without a count. Retries are republished and counted from now on. Correct queueType. (Logged once.)`,
  republishError: (error: unknown): string => reasonText(error),
  returned: (replyCode: number, replyText: string): string =>
    `returned by RabbitMQ: ${replyCode} (${replyText}), the queue does not exist`,
  nacked: 'refused by RabbitMQ (basic.nack): the queue is full or not available',
  blocked: 'not published: RabbitMQ blocks the connection (memory or disk alarm)',
  unconfirmed: 'published and not confirmed within republishTimeout; it may arrive later',
  noTimeToRepublish: 'not published within republishTimeout',
  noChannelInTime: 'not published within republishTimeout: RabbitMQ did not open a channel',
  notDeclaredInTime: (queue: string): string =>
    `not published within republishTimeout: RabbitMQ did not reply to the declaration of "${queue}"`,
  noConnection: 'no connection for republishing',
  connectionNotOpen: 'the connection to RabbitMQ is not open',
  otherBroker: (host: string, cluster = '', expected = ''): string =>
    `${host} leads to another broker (cluster "${cluster}") than the one that delivered the message (cluster "${expected}")`,
  limitBelowAttempts: (queue: string, attempts: number | undefined): string =>
    `queue "${queue}" exists with another x-delivery-limit; expected ${attempts === undefined ? 'one that is never reached, since each restart by failFast counts' : `one above retry.attempts (${attempts})`}. RabbitMQ dead-letters or deletes a message when it reaches the queue's own limit, 20 by default.`,
  negativeLimit: (version: string): string =>
    `queueOptions: x-delivery-limit: expected none; found a negative one, at which RabbitMQ ${version} deletes a message when it is first requeued. Omit it: before 4.0 there is no default limit.`,
  limitTooLow: (limit: number, attempts: number): string =>
    `queueOptions: x-delivery-limit: expected at least ${attempts - 1} for retry.attempts ${attempts}; found ${limit}, at which RabbitMQ dead-letters or deletes a message first.`,
  limitUnseen: (queue: string, attempts: number | undefined, hasDefault: boolean): string =>
    `queue "${queue}" is declared elsewhere and its delivery limit is not visible over AMQP; expected ${attempts === undefined ? 'none, since each restart by failFast counts' : `at least ${attempts - 1} for retry.attempts ${attempts}`}. RabbitMQ dead-letters or deletes a message at its limit. ${hasDefault ? 'The default limit is 20.' : 'There is no default limit.'}`,
  limitDeletes: (limit: number): string =>
    `a policy is 'retry' but retry is not set: after ${limit} redeliveries RabbitMQ deletes the message, since the queue has no known dead-letter exchange. Set retry: { attempts } and deadLetter.`,
  brokerDelayNeeds: (version: string): string =>
    `retry.by: 'broker' needs RabbitMQ 4.3 or later; found ${version}. Omit retry.by: delayed retries then wait in queues of their own`,
  endsConnections: (reason: unknown): string =>
    `RabbitMQ closes the connection when this queue is declared. Disabled until restart: ${errorText(reason)}`,
  cannotPublish: (queue: string | undefined, error: unknown): string =>
    `${queueText(queue)}: its messages cannot be republished: ${reasonText(error)}. Those that are to be retried or dead-lettered are requeued, and the consumer pauses. ${grantText(error) ?? 'Grant write on the default exchange, "amq.default".'}`,
  cannotDeclareWaiting: (queue: string, waiting: string, error: unknown): string =>
    `queue "${queue}": its waiting queues cannot be declared: ${reasonText(error)}. Messages that are to be retried after a delay are dead-lettered, or requeued without deadLetter. ${grantText(error, { right: 'configure and read', name: waiting })}`,
  waitingQueueUnavailable: (name: string, delayMs: number, error: unknown): string =>
    `waiting queue "${name}" is unavailable: ${errorText(error)}. Messages that are to be retried in ${durationText(delayMs)} are requeued until it is available again.`,
  missingRoute: (exchange: string): string =>
    `queueOptions: dead-letter exchange "${exchange}" does not exist: what RabbitMQ would move there is discarded. Declare it, or use deadLetter.`,
};
