import { type Span, SpanStatusCode } from '@opentelemetry/api';
import { bounded, HEADER_BOUNDS } from '../delivery/republish';
import { thrownMessage, thrownName, thrownStack } from '../log/thrown';

/** Records an error as an event of a span, and its name as an attribute; bounded as in the headers of a dead letter. */
export function recordError(span: Span, error: unknown): void {
  const stack = thrownStack(error);
  span.setAttribute('error.type', bounded(thrownName(error), HEADER_BOUNDS.name));
  span.recordException({
    name: bounded(thrownName(error), HEADER_BOUNDS.name),
    message: bounded(thrownMessage(error), HEADER_BOUNDS.message),
    ...(stack && { stack: bounded(stack.header + stack.frames, HEADER_BOUNDS.stack) }),
  });
}

/** Gives a span the status ERROR. */
export function setError(span: Span, message: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** The text of an error for the status of a span. */
export function errorText(error: unknown): string {
  return bounded(thrownMessage(error), HEADER_BOUNDS.message);
}
