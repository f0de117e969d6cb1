import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { Clock } from '../clock';
import { SubscriptionLog } from '../log/subscription-log';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { CLOCK, LOGGER } from '../nest/tokens';

/** The logs of the subscriptions, one each. */
@Injectable()
export class SubscriptionLogs {
  readonly #logs = new Map<SubscriptionMetadata, SubscriptionLog>();

  constructor(
    @Inject(LOGGER) private readonly logger: LoggerService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  of(subscription: SubscriptionMetadata): SubscriptionLog {
    const log =
      this.#logs.get(subscription) ??
      new SubscriptionLog(this.logger, subscription.handler, this.clock);
    this.#logs.set(subscription, log);
    return log;
  }
}
