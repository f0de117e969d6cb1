import type { Decision } from '../model/decision';
import type { Duration } from '../model/duration';
import type { OutcomeKind } from '../model/outcome';
import type { RepublishedMessage, Settlement, SettlementStatus } from '../model/settlement';

/** A message that a settlement has republished, in values that matchers like. */
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
 * What became of one delivery, in values that matchers like: `toMatchObject({ outcome: 'drop' })`.
 * @publicApi
 */
export interface TestSettlement {
  /** The class and method. */
  readonly handler: string;
  readonly outcome: OutcomeKind;
  readonly decision: Decision['kind'];
  readonly attempt: number;
  /** In ms; absent where the decision delays nothing. */
  readonly delay?: number;
  /** Why the message is put into the dead-letter queue, or the text given to `drop`. */
  readonly reason?: string;
  readonly error?: unknown;
  /** The message that was published for a retry or as a dead letter. */
  readonly republished?: TestRepublished;
  readonly status: SettlementStatus;
  readonly payload: unknown;
  readonly messageId: string | undefined;
}

/** The values of a settlement that tests look at. */
export function testSettlementOf(settlement: Settlement): TestSettlement {
  const { subscription, outcome, decision, attempt, error, republished, delivery } = settlement;
  const delay = decision.kind === 'republish' ? decision.delayMs : undefined;
  const reason = decision.kind === 'deadLetter' ? decision.reason : outcome.reason;
  return Object.freeze({
    handler: subscription.handler,
    outcome: outcome.kind,
    decision: decision.kind,
    attempt,
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

/** A queue, as a test looks at it. */
export interface TestQueue {
  readonly ready: number;
  /** Handed out and not settled; `undefined` where the broker does not tell. */
  readonly unacknowledged: number | undefined;
  readonly consumers: number;
  /** The ready messages, in order; they stay where they are. */
  readonly messages: readonly TestMessage[];
}

/** A message in a queue, as a test looks at it. */
export interface TestMessage {
  /** The body as JSON; `undefined` where it is none. */
  readonly payload: unknown;
  readonly body: Buffer;
  readonly exchange: string;
  readonly routingKey: string;
  readonly redelivered: boolean;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** A message for a test to look at. */
export function testMessageOf(message: Omit<TestMessage, 'payload'>): TestMessage {
  return Object.freeze({ ...message, payload: parsed(message.body) });
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined; // Bytes that are no JSON have no payload to show.
  }
}

/** Properties of a message that a test publishes. */
export interface TestProperties {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly [property: string]: unknown;
}

/** How long a test asks the clock to move. */
export type Span = Duration;
