import {
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { ObservedBatch } from '../settlement/delivery-observer';
import { subscriptionAttributes } from './attributes';
import type { ErrorSpans } from './options';
import { errorText, recordError, setError } from './span-error';

/**
 * The span of one call with a batch: it begins a trace of its own, since its messages can come from different
 * ones, and has a link to the span of each; these have a link to it.
 */
export class BatchSpan implements ObservedBatch {
  readonly #span: Span;
  readonly #context: Context;
  #inFlight: number;

  constructor(
    tracer: Tracer,
    batch: readonly DeliveryRecord[],
    spans: readonly Span[],
    private readonly errorOn: ErrorSpans,
  ) {
    this.#inFlight = batch.length;
    const [first] = batch;
    const name = `process batch ${first?.subscription.queue ?? '(anonymous)'}`;
    const options = {
      kind: SpanKind.INTERNAL,
      attributes: {
        ...(first && subscriptionAttributes(first.subscription)),
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.batch.message_count': batch.length,
      },
      links: spans.map((span) => ({ context: span.spanContext() })),
    };
    this.#span = tracer.startSpan(name, options, ROOT_CONTEXT);
    const link = { context: this.#span.spanContext() };
    for (const span of spans) {
      // An SDK that is older than the API has no such method.
      if ('addLink' in span) span.addLink(link);
    }
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#span);
  }

  inContext<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  /** An error counts as that of the batch if every message has failed with it. */
  ended(outcomes: readonly Outcome[]): void {
    if (!this.#span.isRecording()) return;
    const [first, ...others] = outcomes.map((outcome) => failureMarkOf(outcome));
    if (first !== undefined && others.every((other) => other?.error === first.error)) {
      recordError(this.#span, first.error);
      if (this.errorOn === 'failure') setError(this.#span, errorText(first.error));
    }
    this.#span.end();
  }

  /** A delivery of the batch is no longer in flight. Without any, the method is not waited for. */
  deliveryEnded(): void {
    this.#inFlight -= 1;
    if (this.#inFlight === 0 && this.#span.isRecording()) this.#span.end();
  }
}
