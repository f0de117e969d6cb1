import { context, propagation } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll } from 'vitest';

/** Sets the context manager and the propagators of this process for a test file. */
export function useOpenTelemetry(): void {
  const manager = new AsyncLocalStorageContextManager();
  beforeAll(() => {
    context.setGlobalContextManager(manager.enable());
    propagation.setGlobalPropagator(
      new CompositePropagator({
        propagators: [new W3CTraceContextPropagator(), new W3CBaggagePropagator()],
      }),
    );
  });
  afterAll(() => {
    context.disable();
    propagation.disable();
  });
}

/** A tracer provider that keeps its spans in memory. */
export class RecordedTraces {
  readonly #exporter = new InMemorySpanExporter();
  readonly #open = new Map<string, string>();
  readonly provider: NodeTracerProvider;

  constructor() {
    const counting: SpanProcessor = {
      onStart: (span) => void this.#open.set(span.spanContext().spanId, span.name),
      onEnd: (span) => void this.#open.delete(span.spanContext().spanId),
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    };
    this.provider = new NodeTracerProvider({
      spanProcessors: [counting, new SimpleSpanProcessor(this.#exporter)],
    });
  }

  /** The names of the spans that have not ended. */
  get open(): string[] {
    return [...this.#open.values()];
  }

  /** The spans that have ended, in the order of their ends. */
  get ended(): ReadableSpan[] {
    return this.#exporter.getFinishedSpans();
  }

  /** The ended spans with a name. */
  named(name: string): ReadableSpan[] {
    return this.ended.filter((span) => span.name === name);
  }
}

/** One point of a metric. */
export interface Point {
  readonly value: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** A meter provider that is read on demand. */
export class RecordedMetrics {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly provider: MeterProvider;

  constructor() {
    const reader = new PeriodicExportingMetricReader({
      exporter: this.#exporter,
      exportIntervalMillis: 3_600_000,
    });
    this.provider = new MeterProvider({ readers: [reader] });
  }

  /** The points of each metric as they are now. */
  async read(): Promise<ReadonlyMap<string, readonly Point[]>> {
    this.#exporter.reset();
    await this.provider.forceFlush();
    const metrics = this.#exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics: all }) => all);
    return new Map(
      metrics.map(({ descriptor, dataPoints }) => [
        descriptor.name,
        (dataPoints as Point[]).map(({ value, attributes }) => ({ value, attributes })),
      ]),
    );
  }
}
