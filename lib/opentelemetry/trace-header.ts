import {
  type Context,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type SpanContext,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { SettleHeaders, textHeaderOf } from '../delivery/headers';
import type { Headers } from '../model/delivery';

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

const HEADERS: TextMapGetter<Headers> = {
  keys: (headers) => Object.keys(headers),
  get: textHeaderOf,
};

/** Where a message comes from. */
export interface Origin {
  /** The context that the producer has sent with the message; baggage included, if there is any. */
  readonly context: Context;
  /** The producer's span. */
  readonly producer: SpanContext | undefined;
  /** The span of the attempt that has republished the message. */
  readonly previous: SpanContext | undefined;
}

const UNKNOWN: Origin = { context: ROOT_CONTEXT, producer: undefined, previous: undefined };

/**
 * Reads where a delivery comes from. An instrumentation of amqplib replaces the producer's headers when a
 * message is republished: what `x-settle-trace` says of the producer takes precedence.
 */
export function originOf({ message, headers, trace: before }: DeliveryRecord): Origin {
  if (message.properties.headers === undefined && before === undefined) return UNKNOWN;
  const extracted = propagation.extract(ROOT_CONTEXT, headers, HEADERS);
  const text = before ?? textHeaderOf(headers, SettleHeaders.trace) ?? '';
  const [previous, producer] = text.split(',', 2);
  const carried = spanContextOf(producer);
  const sent = trace.getSpanContext(extracted);
  return {
    context: extracted,
    producer: carried ?? (sent !== undefined && isSpanContextValid(sent) ? sent : undefined),
    previous: spanContextOf(previous),
  };
}

/** What `x-settle-trace` of a republished message is to be; `undefined` if nothing is traced. */
export function traceHeaderOf(
  attempt: SpanContext,
  producer: SpanContext | undefined,
): string | undefined {
  if (!isSpanContextValid(attempt)) return undefined;
  return producer === undefined
    ? traceparentOf(attempt)
    : `${traceparentOf(attempt)},${traceparentOf(producer)}`;
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}`;
}

function spanContextOf(text: string | undefined): SpanContext | undefined {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const found = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(found) ? found : undefined;
}
