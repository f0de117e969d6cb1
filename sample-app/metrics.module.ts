import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { SettleOpenTelemetryModule } from 'nestjs-settle/opentelemetry';

const port = process.env['METRICS_PORT'];

/** Serves `/metrics` on METRICS_PORT, if it is set. */
const exporter = new PrometheusExporter({
  host: '127.0.0.1',
  port: Number(port ?? 0),
  preventServerStart: port === undefined,
});
const meterProvider = new MeterProvider({ readers: [exporter] });

@Injectable()
class MetricsServer implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return meterProvider.shutdown();
  }
}

/** The metrics of the shop, for Prometheus. */
@Module({
  imports: [SettleOpenTelemetryModule.forRoot({ meterProvider })],
  providers: [MetricsServer],
})
export class MetricsModule {}
