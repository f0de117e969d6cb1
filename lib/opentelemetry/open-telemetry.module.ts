import { ConfigurableModuleBuilder, type DynamicModule, Inject, Module } from '@nestjs/common';
import { metrics, trace } from '@opentelemetry/api';
import type { Clock } from '../clock';
import { DeliveryObservation } from '../lifecycle/delivery-observation';
import { SubscriptionRegistry } from '../lifecycle/registry';
import { SettlementEvents } from '../lifecycle/settlement-events';
import { SubscriptionEvents } from '../lifecycle/subscription-events';
import { CLOCK } from '../nest/tokens';
import { SCOPE } from './attributes';
import { DeliveryTracing } from './delivery-tracing';
import { resolveOpenTelemetryOptions, type SettleOpenTelemetryOptions } from './options';
import { SettleMetrics } from './settle-metrics';

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN, ASYNC_OPTIONS_TYPE } =
  new ConfigurableModuleBuilder<SettleOpenTelemetryOptions>({ moduleName: 'SettleOpenTelemetry' })
    .setClassMethodName('forRoot')
    .build();

/**
 * Traces and metrics of the application's subscriptions through `@opentelemetry/api`; once in an application,
 * beside `SettleModule`. An OpenTelemetry SDK has to be set up before, else nothing is exported.
 * @example
 * @Module({
 *   imports: [SettleModule.forRoot(), SettleOpenTelemetryModule.forRoot({ errorOn: 'deadLetter' })],
 * })
 * export class AppModule {}
 * @publicApi
 */
@Module({})
export class SettleOpenTelemetryModule extends ConfigurableModuleClass {
  /** @internal */
  constructor(
    @Inject(MODULE_OPTIONS_TOKEN) options: SettleOpenTelemetryOptions,
    observation: DeliveryObservation,
    settlements: SettlementEvents,
    changes: SubscriptionEvents,
    registry: SubscriptionRegistry,
    @Inject(CLOCK) clock: Clock,
  ) {
    super();
    const { traces, relation, errorOn, ...rest } = resolveOpenTelemetryOptions(options);
    if (traces) {
      const tracer = (rest.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
      const tracing = new DeliveryTracing(tracer, relation, errorOn);
      observation.observe(tracing);
      settlements.subscribe((settlement) => tracing.settled(settlement));
    }
    if (!rest.metrics) return;
    const meter = (rest.meterProvider ?? metrics.getMeterProvider()).getMeter(SCOPE);
    const measured = new SettleMetrics(meter, registry, clock);
    settlements.subscribe((settlement) => measured.settled(settlement));
    changes.subscribe((change) => measured.stateChanged(change));
  }

  /** @throws SettleStartupError at startup, if an option is not valid. */
  static override forRoot(options: SettleOpenTelemetryOptions = {}): DynamicModule {
    return super.forRoot(options);
  }

  static override forRootAsync(options: typeof ASYNC_OPTIONS_TYPE): DynamicModule {
    return super.forRootAsync(options);
  }
}
