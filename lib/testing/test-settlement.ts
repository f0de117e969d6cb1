import type { Decision } from '../model/decision';
import type { Duration } from '../model/duration';
import type { OutcomeKind } from '../model/outcome';
import type { RepublishedMessage, Settlement, SettlementStatus } from '../model/settlement';

/** A message that a settlement has published, as plain values. */
export interface TestRepublished {
  /** The queue to which it was published. */
  readonly queue: string;
  /** In ms; 0 if it does not wait. */
  readonly delay: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

/**
 * What happened to one delivery, as plain values.
 * @example expect(settlement).toMatchObject({ outcome: 'drop', decision: 'reject' });
 * @publicApi
 */
export interface TestSettlement {
  /** The class and method. */
  readonly handler: string;
  readonly outcome: OutcomeKind;
  readonly decision: Decision['kind'];
  readonly attempt: number;
  /** How many deliveries the method was called with, if it handles batches and was called. */
  readonly batchSize?: number;
  /** In ms; absent if the decision republishes nothing with a delay. */
  readonly delay?: number;
  /** Why the message was dead-lettered, or the text given to `drop`. */
  readonly reason?: string;
  readonly error?: unknown;
  /** The message that was published for a retry or as a dead letter. */
  readonly republished?: TestRepublished;
  readonly status: SettlementStatus;
  readonly payload: unknown;
  readonly messageId: string | undefined;
}

/** The plain values of a settlement. */
export function testSettlementOf(settlement: Settlement): TestSettlement {
  const { subscription, outcome, decision, attempt, error, republished, delivery } = settlement;
  const delay = decision.kind === 'republish' ? decision.delayMs : undefined;
  const reason = decision.kind === 'deadLetter' ? decision.reason : outcome.reason;
  return Object.freeze({
    handler: subscription.handler,
    outcome: outcome.kind,
    decision: decision.kind,
    attempt,
    ...(settlement.batchSize !== undefined && { batchSize: settlement.batchSize }),
    ...(delay !== undefined && { delay }),
    ...(reason !== undefined && { reason }),
    ...(error !== undefined && { error }),
    ...(republished !== undefined && { republished: republishedOf(republished) }),
    status: settlement.status,
    payload: delivery.payload,
    messageId: delivery.messageId,
  });
}

function republishedOf({ delayMs, ...message }: RepublishedMessage): TestRepublished {
  return { ...message, headers: { ...message.headers }, delay: delayMs };
}

/** A queue as a test sees it. */
export interface TestQueue {
  readonly ready: number;
  /** Delivered and not settled; `undefined` on a real server, which does not report it. */
  readonly unacknowledged: number | undefined;
  readonly consumers: number;
  /** The ready messages, in order; they stay in the queue. */
  readonly messages: readonly TestMessage[];
}

/** A message in a queue as a test sees it. */
export interface TestMessage {
  /** The body, parsed as JSON; `undefined` if it is not JSON. */
  readonly payload: unknown;
  readonly body: Buffer;
  readonly exchange: string;
  readonly routingKey: string;
  readonly redelivered: boolean;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A message as a test sees it. */
export function testMessageOf(message: Omit<TestMessage, 'payload'>): TestMessage {
  return Object.freeze({ ...message, payload: parsed(message.body) });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // A body that is not JSON has no payload.
  }
}

/** Properties of a message that a test publishes. */
export interface TestProperties {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly [property: string]: unknown;
}

/** How far a test moves the time. */
export type Span = Duration;
