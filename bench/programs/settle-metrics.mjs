// @ts-check
/** nestjs-settle with OpenTelemetry metrics, and nothing else. */
import { runSettle } from './support/settle-app.mjs';
import { meterProvider, SettleOpenTelemetryModule } from './support/telemetry.mjs';

await runSettle({ imports: [SettleOpenTelemetryModule.forRoot({ traces: false, meterProvider })] });
