// The snippets of docs/operations.md and docs/observability.md.
import {
  Controller,
  Get,
  Injectable,
  Module,
  type OnModuleInit,
  ServiceUnavailableException,
} from '@nestjs/common';
import { HealthCheck, type HealthCheckResult, HealthCheckService } from '@nestjs/terminus';
import {
  type PauseCause,
  SettleModule,
  SettlementEvents,
  SubscriptionEvents,
  SubscriptionRegistry,
  type SubscriptionState,
} from 'nestjs-settle';
import { SettleOpenTelemetryModule } from 'nestjs-settle/opentelemetry';
import { SettleHealthIndicator } from 'nestjs-settle/terminus';
import { Billing } from '../../sample-app/billing';

declare const counter: { add(count: number, labels: Record<string, string>): void };

@Controller('health')
export class HealthController {
  constructor(private readonly registry: SubscriptionRegistry) {}

  @Get('ready')
  ready(): { readonly status: 'ok' } {
    const waiting = this.registry
      .list()
      .filter(({ state }) => state !== 'consuming' && state !== 'paused' && state !== 'disabled');
    if (waiting.length > 0) throw new ServiceUnavailableException('consumers are not ready');
    return { status: 'ok' };
  }
}

@Injectable()
export class Maintenance {
  constructor(private readonly registry: SubscriptionRegistry) {}

  async run(work: () => Promise<void>): Promise<void> {
    await this.registry.pause(Billing, 'charge');
    await work();
    await this.registry.resume(Billing, 'charge');
  }
}

@Injectable()
export class SettlementCounter implements OnModuleInit {
  constructor(private readonly settlements: SettlementEvents) {}

  onModuleInit(): void {
    this.settlements.subscribe(({ subscription, decision, status }) => {
      counter.add(1, { handler: subscription.handler, decision: decision.kind, status });
    });
  }
}

@Injectable()
export class StateGauge implements OnModuleInit {
  constructor(private readonly subscriptions: SubscriptionEvents) {}

  onModuleInit(): void {
    this.subscriptions.subscribe(({ subscription, from, to, cause }) => {
      if (to !== from) this.gauge(subscription.handler, to, cause);
    });
  }

  private gauge(handler: string, state: SubscriptionState, cause: PauseCause | undefined): void {
    counter.add(1, { handler, state, ...(cause && { cause }) });
  }
}

@Controller('health')
export class TerminusController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly settle: SettleHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.settle.ready('subscriptions', { grace: '30s' })]);
  }

  @Get('alive')
  @HealthCheck()
  alive(): Promise<HealthCheckResult> {
    return this.health.check([() => this.settle.alive('process', { stuckAfter: '15m' })]);
  }
}

@Module({
  imports: [SettleModule.forRoot(), SettleOpenTelemetryModule.forRoot({ errorOn: 'deadLetter' })],
})
export class ObservedModule {}
