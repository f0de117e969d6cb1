import { headerOf, SettleHeaders, textHeaderOf } from '../delivery/headers';
import { bounded, HEADER_BOUNDS } from '../delivery/republish';
import { isWaitingQueue } from '../delivery/waiting-queue';
import type { Headers, IncomingMessage } from '../model/delivery';
import type { DeadLetter, DeadLetterOrigin } from './dead-letter';
import { countOf, type Death, deathsOf, validDate } from './deaths';

/** What a message's headers tell about its failure: everything of a dead letter but its place in the queue. */
export type DescribedLetter = Omit<DeadLetter, 'id' | 'position'>;

/** What a dead letter tells about its end. */
type Failure = Pick<
  DeadLetter,
  'reason' | 'by' | 'errorName' | 'errorMessage' | 'handler' | 'attempts' | 'failedAt'
>;

/**
 * Reads a message of a dead-letter queue. Never throws: headers can have any value.
 * @param queue the queue that it is in.
 */
export function describeLetter(message: IncomingMessage, queue: string): DescribedLetter {
  const { properties, content } = message;
  const headers: Headers = properties.headers ?? {};
  const deaths = movesOf(headers, queue);
  return {
    messageId: textOf(properties.messageId),
    ...failureOf(headers, deaths),
    origin: originOf(headers, deaths),
    firstFailedAt: validDate(textHeaderOf(headers, SettleHeaders.firstFailedAt)),
    replays: countOf(headers, SettleHeaders.replays) ?? 0,
    replayedAt: replayedAtOf(headers),
    deliveryCount: countOf(headers, 'x-delivery-count') ?? 0,
    contentType: textOf(properties.contentType),
    size: content.length,
  };
}

/** When a message was last replayed. */
export function replayedAtOf(headers: Headers): Date | undefined {
  return validDate(textHeaderOf(headers, SettleHeaders.replayedAt));
}

/**
 * Whether this library has dead-lettered the message, and no consumer has failed it since. Messages are
 * republished without `x-death`: whatever it has happened later.
 */
export function isDeadLetteredByClient(headers: Headers, deaths: readonly Death[]): boolean {
  if (textHeaderOf(headers, SettleHeaders.reason) === undefined) return false;
  return !deaths.some(({ reason }) => reason === 'rejected' || reason === 'delivery_limit');
}

/** The moves of a message by RabbitMQ, newest first, without waiting for a retry and returns from its queue. */
function movesOf(headers: Headers, queue: string): readonly Death[] {
  const consumed = headerOf(headers, SettleHeaders.queue);
  return deathsOf(headers).filter(
    (death) =>
      death.queue !== queue &&
      !(typeof consumed === 'string' && isWaitingQueue(death.queue, consumed)),
  );
}

function failureOf(headers: Headers, deaths: readonly Death[]): Failure {
  if (isDeadLetteredByClient(headers, deaths)) {
    return {
      reason: shortHeaderOf(headers, SettleHeaders.reason, HEADER_BOUNDS.name) ?? 'unknown',
      by: 'client',
      errorName: shortHeaderOf(headers, SettleHeaders.errorName, HEADER_BOUNDS.name),
      errorMessage: shortHeaderOf(headers, SettleHeaders.errorMessage, HEADER_BOUNDS.message),
      handler: shortHeaderOf(headers, SettleHeaders.handler, HEADER_BOUNDS.message),
      attempts: countOf(headers, SettleHeaders.attemptsMade),
      failedAt: validDate(textHeaderOf(headers, SettleHeaders.failedAt)),
    };
  }
  const [newest] = deaths;
  if (newest === undefined) return { reason: 'unknown', by: 'unknown' };
  return {
    reason: newest.reason,
    by: 'broker',
    attempts: countOf(headers, SettleHeaders.attempt),
    failedAt: newest.at,
  };
}

// Anybody can publish a message with longer ones.
function shortHeaderOf(headers: Headers, name: string, bytes: number): string | undefined {
  const text = textHeaderOf(headers, name);
  return text === undefined ? undefined : bounded(text, bytes);
}

/** Where a message failed: the queue that this library names, else the one that RabbitMQ last moved it from. */
function originOf(headers: Headers, deaths: readonly Death[]): DeadLetterOrigin | undefined {
  const retried = retriedOriginOf(headers);
  if (retried !== undefined && isDeadLetteredByClient(headers, deaths)) return retried;
  const named = textHeaderOf(headers, SettleHeaders.queue);
  const [newest] = deaths;
  const queue = isDeadLetteredByClient(headers, deaths) ? named : newest?.queue;
  if (queue === undefined || queue === '') return undefined;
  if (queue === named) {
    return {
      queue,
      exchange: textHeaderOf(headers, SettleHeaders.exchange),
      routingKey: textHeaderOf(headers, SettleHeaders.routingKey),
    };
  }
  return { queue, exchange: newest?.exchange, routingKey: newest?.routingKey };
}

// A subscription of the dead-letter queue has retried it.
function retriedOriginOf(headers: Headers): DeadLetterOrigin | undefined {
  const queue = textHeaderOf(headers, SettleHeaders.originQueue);
  return queue === undefined
    ? undefined
    : {
        queue,
        exchange: textHeaderOf(headers, SettleHeaders.originExchange),
        routingKey: textHeaderOf(headers, SettleHeaders.originRoutingKey),
      };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
