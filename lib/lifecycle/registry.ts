import { Injectable } from '@nestjs/common';
import { versionOf } from '../amqp/queue-declarations';
import { describeConsumers } from '../description/describe';
import type { ApplicationDescription } from '../description/description';
import { texts } from '../log/texts';
import type { DeliveryInFlight, SubscriptionStatus } from '../model/subscription-status';
import type { HandlerClass, MethodName } from '../subscribe/token';
import type { ActiveMethod, ActiveSubscription } from './active-subscription';
import { ActiveSubscriptions } from './active-subscriptions';

/**
 * The subscriptions of the running application: what each is doing, and pausing and resuming them.
 * @publicApi
 */
@Injectable()
export class SubscriptionRegistry {
  /** @internal */
  constructor(private readonly active: ActiveSubscriptions) {}

  /**
   * Resolves when each subscription has consumed once. Rejects with a `SettleStartupError` that lists the
   * refused ones, or with a `ShutdownError` if the application closes before. Never causes an unhandled
   * rejection.
   */
  get started(): Promise<void> {
    return this.active.started;
  }

  /**
   * All subscriptions, in the order in which they were found. Methods that share a queue have one status
   * each, with the state of their one consumer.
   */
  list(): readonly SubscriptionStatus[] {
    return this.active.list.flatMap((one) => one.methods.map((method) => one.statusOf(method)));
  }

  /** What is running or being settled, subscription by subscription, the oldest first. */
  inFlight(): readonly DeliveryInFlight[] {
    return this.active.list.flatMap((one) => one.deliveriesInFlight());
  }

  /** Whether the policy `'failFast'` has left a delivery unsettled: the application is shutting down. */
  get isFailingFast(): boolean {
    return this.active.list.some(({ receiver }) => receiver.leftUnsettled);
  }

  /**
   * One subscription.
   * @param name the option `name` or the queue; needed if a method carries more than one.
   * @throws Error if there is none, or more than one and no name is given.
   */
  get<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): SubscriptionStatus {
    const { active, found } = this.#find(type, method, name);
    return active.statusOf(found);
  }

  /**
   * Pauses a subscription with the cause `operator`: its consumer is cancelled, for all methods of its
   * queue. Resolves when nothing is in flight any more. Survives reconnects. A queue that RabbitMQ deletes without its consumer, such as one with
   * `autoDelete`, keeps it: up to the prefetch, messages are then delivered and held.
   * @throws Error if there is no such subscription.
   */
  async pause<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): Promise<void> {
    await this.#find(type, method, name).active.pause();
  }

  /**
   * Consumes again after `pause`.
   * @throws Error if there is no such subscription.
   */
  async resume<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): Promise<void> {
    this.#find(type, method, name).active.resume();
  }

  /**
   * Describes what the subscriptions declare and do: queues, bindings, and what becomes of a message after
   * every outcome and failure. Empty before the application has started.
   * @param options `rabbitmq`: the version for which it holds, default `'4.3'`.
   * @throws RangeError if that is not a version.
   */
  describe({ rabbitmq = '4.3' }: { readonly rabbitmq?: string } = {}): ApplicationDescription {
    return describeConsumers(this.active.consumers, versionOf(rabbitmq));
  }

  #find(
    type: HandlerClass,
    method: string,
    name: string | undefined,
  ): { readonly active: ActiveSubscription; readonly found: ActiveMethod } {
    const all = this.active.list.flatMap((active) =>
      active.methods.map((found) => ({ active, found })),
    );
    const matching = all.filter(
      ({ found: { handler, subscription } }) =>
        (handler.type === type || handler.type.prototype instanceof type) &&
        handler.method === method &&
        (name === undefined || subscription.name === name),
    );
    const [first, ...others] = matching;
    if (first === undefined || others.length > 0) {
      const names = matching.map(({ found }) => found.subscription.name);
      throw new Error(texts.noSuchSubscription(`${type.name}.${method}`, name, names));
    }
    return first;
  }
}
