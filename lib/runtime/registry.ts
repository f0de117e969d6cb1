import { Injectable } from '@nestjs/common';
import { SettleStartupError } from '../outcome/errors';
import { messages } from '../outcome/messages';
import type { HandlerClass, MethodName } from '../subscription/token';
import type { ActiveSubscription, SubscriptionStatus } from './active-subscription';

/**
 * The subscriptions of the running application: what each is doing, and pausing and resuming them.
 * @publicApi
 */
@Injectable()
export class SubscriptionRegistry {
  /**
   * Resolves when each subscription has consumed once. Rejects with a `SettleStartupError` that lists the
   * refused ones, or with a `StoppingError` where the application closes before. Never causes an
   * unhandled rejection.
   */
  readonly started: Promise<void>;
  #active: readonly ActiveSubscription[] = [];
  #settleStarted: { resolve: () => void; reject: (reason: Error) => void } | undefined;

  constructor() {
    this.started = new Promise((resolve, reject) => {
      this.#settleStarted = { resolve, reject };
    });
    this.started.catch(() => undefined);
  }

  /** All subscriptions, in the order in which they were found. */
  list(): readonly SubscriptionStatus[] {
    return this.#active.map(({ status }) => status);
  }

  /**
   * One subscription.
   * @param name the option `name` or the queue; needed where a method carries more than one.
   * @throws Error where there is none, or more than one without a name.
   */
  get<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): SubscriptionStatus {
    return this.#find(type, method, name).status;
  }

  /**
   * Cancels the consumer; resolves when nothing is in flight any more. Survives reconnects.
   * @throws Error where there is no such subscription.
   */
  async pause<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): Promise<void> {
    await this.#find(type, method, name).pause();
  }

  /**
   * Consumes again after `pause`.
   * @throws Error where there is no such subscription.
   */
  async resume<T extends HandlerClass>(
    type: T,
    method: MethodName<InstanceType<T>>,
    name?: string,
  ): Promise<void> {
    this.#find(type, method, name).resume();
  }

  /** Takes over what has been started. For the module itself. */
  register(active: readonly ActiveSubscription[]): void {
    this.#active = active;
    void Promise.allSettled(active.map(({ consumed }) => consumed)).then((results) => {
      const refused = active.filter(({ state }) => state === 'refused');
      const stopped = results.find((result) => result.status === 'rejected');
      if (refused.length > 0) this.failed(refusalOf(refused));
      else if (stopped !== undefined) this.failed(stopped.reason as Error);
      else this.#settleStarted?.resolve();
    });
  }

  /** Rejects `started`. For the module itself. */
  failed(reason: Error): void {
    this.#settleStarted?.reject(reason);
  }

  /** Settles `started` where the service stops before it was settled. For the module itself. */
  stopped(reason: Error): void {
    const isStarted = this.#active.length > 0 && this.#active.every((one) => one.hasConsumed);
    if (isStarted) this.#settleStarted?.resolve();
    else this.failed(reason);
  }

  #find(type: HandlerClass, method: string, name: string | undefined): ActiveSubscription {
    const found = this.#active.filter(
      (one) =>
        (one.type === type || one.type.prototype instanceof type) &&
        one.method === method &&
        (name === undefined || one.subscription.name === name),
    );
    const [first, ...others] = found;
    if (first === undefined || others.length > 0) {
      const names = found.map(({ subscription }) => subscription.name);
      throw new Error(messages.noSuchSubscription(`${type.name}.${method}`, name, names));
    }
    return first;
  }
}

/** The error that lists refused subscriptions. */
export function refusalOf(refused: readonly ActiveSubscription[]): SettleStartupError {
  return new SettleStartupError(
    refused.map(({ subscription, lastError }) =>
      messages.refused(subscription.handler, subscription.queue, lastError),
    ),
  );
}
