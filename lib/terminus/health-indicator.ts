import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import type { Clock } from '../clock';
import { SubscriptionRegistry } from '../lifecycle/registry';
import { texts } from '../log/texts';
import { type Duration, milliseconds } from '../model/duration';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { DeliveryInFlight, SubscriptionStatus } from '../model/subscription-status';
import { CLOCK } from '../nest/tokens';
import { deliveryDetails, subscriptionDetails } from './details';

/**
 * What `SettleHealthIndicator.ready` looks at.
 * @publicApi
 */
export interface ReadyOptions {
  /**
   * How long a subscription may reconnect without being down.
   * @default '30s'
   * @example '2m'
   */
  readonly grace?: Duration;
  /**
   * Which subscriptions count.
   * @default all
   * @example ({ queue }) => queue !== 'reports'
   */
  readonly filter?: (subscription: SubscriptionMetadata) => boolean;
}

/**
 * What `SettleHealthIndicator.alive` looks at.
 * @publicApi
 */
export interface AliveOptions {
  /**
   * How long a delivery may be in flight without the process being down.
   * @default no limit
   * @example '15m'
   */
  readonly stuckAfter?: Duration;
  /**
   * Which subscriptions count.
   * @default all
   */
  readonly filter?: (subscription: SubscriptionMetadata) => boolean;
}

const GRACE = '30s';

/**
 * Readiness and liveness from what the subscriptions of this process are doing; it asks no broker. A provider
 * for `@nestjs/terminus`, to be listed in a module that imports `TerminusModule`.
 * @example
 * @Controller('health')
 * export class HealthController {
 *   constructor(
 *     private readonly health: HealthCheckService,
 *     private readonly settle: SettleHealthIndicator,
 *   ) {}
 *
 *   @Get('ready')
 *   @HealthCheck()
 *   ready() {
 *     return this.health.check([() => this.settle.ready('subscriptions')]);
 *   }
 * }
 * @publicApi
 */
@Injectable()
export class SettleHealthIndicator {
  constructor(
    private readonly registry: SubscriptionRegistry,
    private readonly health: HealthIndicatorService,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Whether every subscription does what it is to do. Down: one that starts, is refused or has stopped, and
   * one that has been reconnecting for longer than `grace`. Up: one that consumes or is disabled, and a paused
   * one, whatever its cause; `degraded` is in the details if the pause was not an operator's, or if a delivery
   * is stuck.
   *
   * Readiness takes an instance out of HTTP traffic, not out of its queues.
   * @param key the name of the result.
   * @throws RangeError if `grace` is not a duration.
   */
  ready<Key extends string>(key: Key, options: ReadyOptions = {}): HealthIndicatorResult<Key> {
    const grace = durationOf(options.grace ?? GRACE);
    const counted = this.#list(options.filter);
    const down = counted.filter((status) => this.#isDown(status, grace));
    const stuck = this.#inFlight(options.filter).filter(({ isStuck }) => isStuck);
    const details = {
      ...((stuck.length > 0 || counted.some(isDegraded)) && { degraded: true }),
      subscriptions: counted.map(subscriptionDetails),
      ...(stuck.length > 0 && { stuck: stuck.map(deliveryDetails) }),
    };
    return this.#result(key, down.length === 0, details);
  }

  /**
   * Whether the process is to go on. Down: when the policy `'failFast'` is shutting the application down, and
   * with `stuckAfter` while a delivery has been in flight for longer. The broker plays no part: one that is
   * away would have every instance restarted.
   * @param key the name of the result.
   * @throws RangeError if `stuckAfter` is not a duration.
   */
  alive<Key extends string>(key: Key, options: AliveOptions = {}): HealthIndicatorResult<Key> {
    const { stuckAfter, filter } = options;
    const limit = stuckAfter === undefined ? undefined : durationOf(stuckAfter);
    const stuck = this.#inFlight(filter).filter(
      ({ ageMs }) => limit !== undefined && ageMs >= limit,
    );
    const isFailingFast = this.registry.isFailingFast;
    return this.#result(key, !isFailingFast && stuck.length === 0, {
      ...(isFailingFast && { failFast: true }),
      ...(stuck.length > 0 && { stuck: stuck.map(deliveryDetails) }),
    });
  }

  #result<Key extends string>(
    key: Key,
    isUp: boolean,
    details: Record<string, unknown>,
  ): HealthIndicatorResult<Key> {
    const session = this.health.check(key);
    return isUp ? session.up(details) : session.down(details);
  }

  #list(filter: ReadyOptions['filter']): readonly SubscriptionStatus[] {
    return this.registry.list().filter(({ subscription }) => filter?.(subscription) ?? true);
  }

  #inFlight(filter: ReadyOptions['filter']): readonly DeliveryInFlight[] {
    return this.registry.inFlight().filter(({ subscription }) => filter?.(subscription) ?? true);
  }

  #isDown({ state, since }: SubscriptionStatus, grace: number): boolean {
    if (state === 'reconnecting') return this.clock.now() - since.getTime() >= grace;
    return state === 'starting' || state === 'refused' || state === 'stopped';
  }
}

function isDegraded({ cause }: SubscriptionStatus): boolean {
  return cause !== undefined && cause !== 'operator';
}

function durationOf(value: Duration): number {
  const ms = milliseconds(value);
  if (ms === undefined) throw new RangeError(texts.durationInvalid(`${value}`));
  return ms;
}
