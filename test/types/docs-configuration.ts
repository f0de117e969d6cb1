// The snippets of docs/configuration.md.
import { applyDecorators, Injectable, Module, UseGuards } from '@nestjs/common';
import {
  type Delivery,
  type InjectableDeliveryInterceptor,
  type Outcome,
  parseDuration,
  SettleModule,
  Subscribe,
} from 'nestjs-settle';

declare class ConfigService {
  getOrThrow(name: string): string;
}
@Module({ providers: [ConfigService], exports: [ConfigService] })
export class ConfigModule {}

declare class AuditStore {
  add(messageId: string | undefined, outcome: string): Promise<void>;
}

@Injectable()
export class Audit implements InjectableDeliveryInterceptor {
  constructor(private readonly store: AuditStore) {}

  async intercept(delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await next();
    await this.store.add(delivery.messageId, outcome.kind);
    return outcome;
  }
}

@Module({
  imports: [
    SettleModule.forRootAsync({
      imports: [ConfigModule],
      inject: [ConfigService],
      useFactory: (config: ConfigService) => ({
        defaults: {
          prefetch: Number(config.getOrThrow('PREFETCH')),
          deadLetter: (queue) => `${queue}.dead`,
        },
        shutdownTimeout: parseDuration(config.getOrThrow('SHUTDOWN_TIMEOUT')),
        interceptors: [Audit],
      }),
    }),
  ],
  providers: [Audit, AuditStore],
})
export class AppModule {}

@Injectable()
export class Named {
  @Subscribe({ name: 'billing', onError: 'retryAfter', retry: { attempts: 5 } })
  async charge(): Promise<void> {}
}

declare class TenantGuard {
  canActivate(): boolean;
}

export const OrderHandler = (queue: string) => Subscribe({ queue, deadLetter: `${queue}.dead` });

export const TenantHandler = (queue: string) =>
  applyDecorators(OrderHandler(queue) as MethodDecorator, UseGuards(TenantGuard));
