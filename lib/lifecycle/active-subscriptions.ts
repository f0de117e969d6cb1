import { Injectable } from '@nestjs/common';
import type { Broker } from '../amqp/port';
import { texts } from '../log/texts';
import { SettleStartupError } from '../model/errors';
import type { ActiveSubscription } from './active-subscription';
import type { PlannedConsumer } from './planned-consumers';

/** The subscriptions and brokers of the running application, and whether they have all started. */
@Injectable()
export class ActiveSubscriptions {
  /** Resolves when each subscription has consumed once; rejects if one is refused or the application closes. */
  readonly started: Promise<void>;
  #brokers: ReadonlyMap<ActiveSubscription, Broker> = new Map();
  #list: readonly ActiveSubscription[] = [];
  #consumers: readonly PlannedConsumer[] = [];
  #settleStarted: { resolve: () => void; reject: (reason: Error) => void } | undefined;

  constructor() {
    this.started = new Promise((resolve, reject) => {
      this.#settleStarted = { resolve, reject };
    });
    // Prevents an unhandled rejection if nobody awaits it.
    this.started.catch(() => undefined);
  }

  /** In the order in which they were found. */
  get list(): readonly ActiveSubscription[] {
    return this.#list;
  }

  get brokers(): readonly Broker[] {
    return [...new Set(this.#brokers.values())];
  }

  /** What was planned, for descriptions. */
  get consumers(): readonly PlannedConsumer[] {
    return this.#consumers;
  }

  /** The broker whose queues a subscription uses. */
  brokerOf(active: ActiveSubscription): Broker | undefined {
    return this.#brokers.get(active);
  }

  /** @param brokers of each subscription, in the order in which they were found. */
  register(
    brokers: ReadonlyMap<ActiveSubscription, Broker>,
    consumers: readonly PlannedConsumer[],
  ): void {
    const list = [...brokers.keys()];
    this.#brokers = brokers;
    this.#list = list;
    this.#consumers = consumers;
    void Promise.allSettled(list.map(({ consumed }) => consumed)).then((results) => {
      const refusal = refusalOf(list);
      const stopped = results.find((result) => result.status === 'rejected');
      if (refusal !== undefined) this.failed(refusal);
      else if (stopped !== undefined) this.failed(stopped.reason as Error);
      else this.#settleStarted?.resolve();
    });
  }

  /** The application can't start. */
  failed(reason: Error): void {
    this.#settleStarted?.reject(reason);
  }

  /** The application closes, started or not. */
  stopping(reason: Error): void {
    const isStarted = this.#list.length > 0 && this.#list.every((one) => one.hasConsumed);
    if (isStarted) this.#settleStarted?.resolve();
    else this.failed(reason);
  }
}

/** The error that lists the refused subscriptions; `undefined` if there are none. */
export function refusalOf(list: readonly ActiveSubscription[]): SettleStartupError | undefined {
  const refused = list.filter(({ state }) => state === 'refused');
  if (refused.length === 0) return undefined;
  return new SettleStartupError(
    refused.map(({ subscription, lastError }) =>
      texts.refused(subscription.handler, subscription.queue, lastError),
    ),
  );
}
