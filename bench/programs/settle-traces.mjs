// @ts-check
/** nestjs-settle with OpenTelemetry traces, one in ten sampled. */
import { runSettle } from './support/settle-app.mjs';
import { SettleOpenTelemetryModule, tracerProvider } from './support/telemetry.mjs';

await runSettle({
  imports: [SettleOpenTelemetryModule.forRoot({ metrics: false, tracerProvider })],
});
