import {
  type Context,
  context,
  type Link,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { Delivery } from '../model/delivery';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import type { DeliveryObserver, ObservedBatch } from '../settlement/delivery-observer';
import { deliveryAttributes, outcomeAttributes, settlementAttributes } from './attributes';
import { BatchSpan } from './batch-span';
import type { ErrorSpans, SpanRelation } from './options';
import { errorText, recordError, setError } from './span-error';
import { type Origin, originOf, traceHeaderOf } from './trace-header';

const INSTRUMENTATION = '@opentelemetry/instrumentation-amqplib';

/**
 * A span for each delivery, from the start of its handling to its settlement. The handler, `andAfter` and
 * subscribers of the events run in its context. Beside the instrumentation of amqplib, whose span of the
 * same delivery is then the parent, the span is an internal one.
 */
export class DeliveryTracing implements DeliveryObserver {
  readonly #spans = new WeakMap<Delivery, Span>();
  readonly #batches = new WeakMap<Delivery, BatchSpan>();

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
    const span = this.#take(delivery);
    if (span === undefined) return;
    if (span.isRecording()) {
      span.setAttributes(settlementAttributes(settlement));
      if (error !== undefined) recordError(span, error);
      if (isError(settlement, this.errorOn)) setError(span, statusText(settlement));
    }
    span.end();
  }

  /** Ends the span of a delivery that has no settlement, since it is handled again. */
  ended(delivery: DeliveryRecord, outcome?: Outcome): void {
    const span = this.#take(delivery);
    if (span === undefined) return;
    if (outcome !== undefined && span.isRecording()) {
      span.setAttributes(outcomeAttributes(outcome));
      const failure = failureMarkOf(outcome);
      if (failure !== undefined) {
        recordError(span, failure.error);
        if (this.errorOn === 'failure') setError(span, errorText(failure.error));
      }
    }
    span.end();
  }

  /** A span for the call of a method with several deliveries, linked with theirs. */
  batchBegan(batch: readonly DeliveryRecord[]): ObservedBatch | undefined {
    // A delivery that is handled alone has its own context.
    if (batch.length === 1) return undefined;
    const spans = batch.flatMap((delivery) => this.#spans.get(delivery) ?? []);
    const span = new BatchSpan(this.tracer, batch, spans, this.errorOn);
    for (const delivery of batch) this.#batches.set(delivery, span);
    return span;
  }

  /** The span of a delivery, which is to end now. */
  #take(delivery: Delivery): Span | undefined {
    const span = this.#spans.get(delivery);
    if (span === undefined) return undefined;
    this.#spans.delete(delivery);
    this.#batches.get(delivery)?.deliveryEnded();
    return span;
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

function isError(settlement: Settlement, errorOn: ErrorSpans): boolean {
  const { decision, status, error } = settlement;
  const isCarriedOut = status === 'sent' || status === 'none';
  const isEnd = isCarriedOut && ['deadLetter', 'reject', 'leaveUnsettled'].includes(decision.kind);
  if (isEnd || errorOn === 'deadLetter') return isEnd;
  return error !== undefined || status === 'abandoned' || status === 'republishFailed';
}

function statusText({ error, decision, status }: Settlement): string {
  if (error !== undefined) return errorText(error);
  return status === 'sent' ? decision.kind : status;
}
