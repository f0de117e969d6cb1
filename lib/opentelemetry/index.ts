export { SettleOpenTelemetryModule } from './open-telemetry.module';
export type { ErrorSpans, SettleOpenTelemetryOptions, SpanRelation } from './options';
