// @ts-check
/** Telemetry without an exporter: metrics are never read, and ended spans are thrown away. */
import { createRequire } from 'node:module';
import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

const require = createRequire(new URL('../../../package.json', import.meta.url));

export const { SettleOpenTelemetryModule } =
  /** @type {typeof import('nestjs-settle/opentelemetry')} */ (
    require('nestjs-settle/opentelemetry')
  );

class Unread extends MetricReader {
  async onForceFlush() {}
  async onShutdown() {}
}

/** A meter provider that aggregates. */
export const meterProvider = new MeterProvider({ readers: [new Unread()] });

/** @type {import('@opentelemetry/sdk-trace-node').SpanExporter} */
const discarding = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
};

/** A tracer provider that samples one trace in ten. */
export const tracerProvider = new NodeTracerProvider({
  sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.1) }),
  spanProcessors: [new BatchSpanProcessor(discarding)],
});
tracerProvider.register();
