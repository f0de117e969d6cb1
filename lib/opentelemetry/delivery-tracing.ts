import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { bounded, HEADER_BOUNDS } from '../delivery/republish';
import { thrownMessage, thrownName, thrownStack } from '../log/thrown';
import type { Delivery } from '../model/delivery';
import type { Settlement } from '../model/settlement';
import type { DeliveryObserver } from '../settlement/delivery-observer';
import { deliveryAttributes, settlementAttributes } from './attributes';
import type { ErrorSpans, SpanRelation } from './options';
import { type Origin, originOf, traceHeaderOf } from './trace-header';

const INSTRUMENTATION = '@opentelemetry/instrumentation-amqplib';

/**
 * A span for each delivery, from the start of its handling to its settlement. The handler, `andAfter` and
 * subscribers of the events run in its context. Beside the instrumentation of amqplib, whose span of the
 * same delivery is then the parent, the span is an internal one.
 */
export class DeliveryTracing implements DeliveryObserver {
  readonly #spans = new WeakMap<Delivery, Span>();

  constructor(
    private readonly tracer: Tracer,
    private readonly relation: SpanRelation,
    private readonly errorOn: ErrorSpans,
  ) {}

  began(delivery: DeliveryRecord): void {
    const origin = originOf(delivery);
    const arrival = delivery.inContext(() => context.active());
    const isInstrumented = isOfInstrumentation(trace.getSpan(arrival));
    const parent = isInstrumented ? arrival : this.#parentOf(delivery, origin);
    const name = `process ${delivery.subscription.queue ?? '(anonymous)'}`;
    const options = {
      kind: isInstrumented ? SpanKind.INTERNAL : SpanKind.CONSUMER,
      attributes: deliveryAttributes(delivery),
      links: linksOf(origin, trace.getSpanContext(parent)?.spanId),
    };
    const span = this.tracer.startSpan(name, options, parent);
    const { producer } = origin;
    delivery.trace = traceHeaderOf(span.spanContext(), producer);
    this.#spans.set(delivery, span);
    const own = trace.setSpan(isInstrumented ? arrival : origin.context, span);
    delivery.inContext(() => context.with(own, () => delivery.captureContext()));
  }

  /** Ends the span of a delivery; to be called for each settlement. */
  settled(settlement: Settlement): void {
    const { delivery, error } = settlement;
    const span = this.#spans.get(delivery);
    if (span === undefined) return;
    this.#spans.delete(delivery);
    if (span.isRecording()) {
      span.setAttributes(settlementAttributes(settlement));
      if (error !== undefined) recordError(span, error);
      if (isError(settlement, this.errorOn)) {
        span.setStatus({ code: SpanStatusCode.ERROR, message: statusText(settlement) });
      }
    }
    span.end();
  }

  ended(delivery: DeliveryRecord): void {
    this.#spans.get(delivery)?.end();
    this.#spans.delete(delivery);
  }

  // A producer that is not sampled is the parent of every attempt: its decision is for the whole message.
  #parentOf({ attempt }: DeliveryRecord, { context: sent, producer }: Origin): Context {
    if (producer === undefined) return ROOT_CONTEXT;
    const isSampled = (producer.traceFlags & TraceFlags.SAMPLED) !== 0;
    const isChild = this.relation === 'parent' || (this.relation === 'auto' && attempt === 1);
    if (isChild || !isSampled) return trace.setSpanContext(sent, producer);
    return trace.deleteSpan(sent);
  }
}

function linksOf({ producer, previous }: Origin, parentId: string | undefined): Link[] {
  return [producer, previous].flatMap((found) =>
    found === undefined || found.spanId === parentId ? [] : [{ context: found }],
  );
}

// A span that was active when the connection was opened does not belong to the message.
function isOfInstrumentation(span: Span | undefined): boolean {
  const scope = (span as { readonly instrumentationScope?: { readonly name?: string } } | undefined)
    ?.instrumentationScope;
  return scope?.name === INSTRUMENTATION;
}

function recordError(span: Span, error: unknown): void {
  const stack = thrownStack(error);
  span.setAttribute('error.type', bounded(thrownName(error), HEADER_BOUNDS.name));
  span.recordException({
    name: bounded(thrownName(error), HEADER_BOUNDS.name),
    message: bounded(thrownMessage(error), HEADER_BOUNDS.message),
    ...(stack && { stack: bounded(stack.header + stack.frames, HEADER_BOUNDS.stack) }),
  });
}

function isError(settlement: Settlement, errorOn: ErrorSpans): boolean {
  const { decision, status, error } = settlement;
  const isEnd = ['deadLetter', 'reject', 'leaveUnsettled'].includes(decision.kind);
  if (isEnd || errorOn === 'deadLetter') return isEnd;
  return error !== undefined || status === 'abandoned' || status === 'republishFailed';
}

function statusText({ error, decision, status }: Settlement): string {
  if (error !== undefined) return bounded(thrownMessage(error), HEADER_BOUNDS.message);
  return status === 'sent' ? decision.kind : status;
}
