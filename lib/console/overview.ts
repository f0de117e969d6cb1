import { Inject, Injectable } from '@nestjs/common';
import type { Broker, MessageCounts } from '../amqp/port';
import { delaysAtStartup, waitingQueueOf } from '../amqp/waiting-queues';
import type { Clock } from '../clock';
import type { ActiveMethod, ActiveSubscription } from '../lifecycle/active-subscription';
import type { ActiveSubscriptions } from '../lifecycle/active-subscriptions';
import { errorText } from '../log/format';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { PauseCause, SubscriptionState } from '../model/subscription-status';
import { QueueCountCache } from './queue-count-cache';
import type { AttemptFailure, Series } from './settlement-history';
import { SettlementRecorder } from './settlement-recorder';
import { CONSOLE_CLOCK, CONSOLE_SUBSCRIPTIONS } from './tokens';

/** A subscription as the page shows it. */
export interface SubscriptionView {
  readonly key: string;
  readonly handler: string;
  readonly name: string;
  readonly connection: string | undefined;
  readonly queue: string | undefined;
  readonly queueType: string;
  readonly bindings: SubscriptionMetadata['bindings'];
  readonly prefetch: number | undefined;
  readonly attempts: number | undefined;
  readonly timeout: number | undefined;
  readonly deadLetter: string | undefined;
  readonly state: SubscriptionState;
  /** Why it is paused. */
  readonly cause: PauseCause | undefined;
  /** ISO 8601. */
  readonly since: string;
  /** Why it was not consuming the last time. */
  readonly lastError: string | undefined;
  readonly inFlight: number;
  /** Delivered, and not begun yet. */
  readonly held: number;
  readonly abandoned: number;
  readonly counts: MessageCounts | undefined;
  /** Messages that wait for their next attempt. */
  readonly waiting: number | undefined;
  readonly dead: number | undefined;
  readonly series: Series;
  readonly failures: readonly AttemptFailure[];
}

/** What the page shows of the running application. */
@Injectable()
export class Overview {
  constructor(
    @Inject(CONSOLE_SUBSCRIPTIONS) private readonly active: ActiveSubscriptions,
    private readonly recorder: SettlementRecorder,
    private readonly counts: QueueCountCache,
    @Inject(CONSOLE_CLOCK) private readonly clock: Clock,
  ) {}

  /** All subscriptions with what was counted last. */
  subscriptions(): readonly SubscriptionView[] {
    return this.active.list.flatMap((active) =>
      active.methods.map((method) => this.#viewOf(active, method)),
    );
  }

  /** A subscription by the key of its view. */
  find(key: unknown): ActiveSubscription | undefined {
    return this.active.list.find(({ methods }) =>
      methods.some(({ subscription }) => keyOf(subscription) === key),
    );
  }

  /** Asks for the counts of all queues of the subscriptions, unless they are fresh. */
  async refreshCounts(): Promise<void> {
    const wanted = new Map<Broker, Set<string>>();
    for (const active of this.active.list) {
      const broker = this.active.brokerOf(active);
      if (broker === undefined) continue;
      const queues = wanted.get(broker) ?? new Set();
      wanted.set(broker, queues);
      for (const { subscription } of active.methods) {
        for (const queue of this.#queuesOf(subscription)) queues.add(queue);
      }
    }
    await this.counts.refresh(wanted);
  }

  #queuesOf(subscription: SubscriptionMetadata): readonly string[] {
    const { queue, deadLetter } = subscription;
    const own = queue === undefined ? [] : [queue];
    const dead = deadLetter === undefined ? [] : [deadLetter.queue];
    return [...own, ...dead, ...this.#waitingQueuesOf(subscription)];
  }

  #waitingQueuesOf(subscription: SubscriptionMetadata): ReadonlySet<string> {
    const { queue } = subscription;
    if (queue === undefined) return new Set();
    const declared = [...delaysAtStartup(subscription)].map(
      (ms) => waitingQueueOf(subscription, queue, ms).name,
    );
    return new Set([...declared, ...this.recorder.historyOf(subscription).waitingQueues]);
  }

  #viewOf(active: ActiveSubscription, method: ActiveMethod): SubscriptionView {
    const { subscription } = method;
    const status = active.statusOf(method);
    const broker = this.active.brokerOf(active);
    const countsOf = (queue: string | undefined): MessageCounts | undefined =>
      broker === undefined || queue === undefined ? undefined : this.counts.get(broker, queue);
    const waiting = [...this.#waitingQueuesOf(subscription)].map(countsOf);
    const history = this.recorder.historyOf(subscription);
    const own = countsOf(subscription.queue);
    return {
      key: keyOf(subscription),
      handler: subscription.handler,
      name: subscription.name,
      connection: subscription.connection,
      queue: subscription.queue,
      queueType: subscription.queueType,
      bindings: subscription.bindings,
      prefetch: subscription.prefetch,
      attempts: subscription.retry?.attempts,
      timeout: subscription.timeout,
      deadLetter: subscription.deadLetter?.queue,
      state: status.state,
      cause: status.cause,
      since: status.since.toISOString(),
      lastError: status.lastError && errorText(status.lastError),
      inFlight: status.inFlight,
      held: status.waiting,
      abandoned: status.abandoned,
      counts: own,
      waiting: own && waiting.reduce((sum, counts) => sum + messagesOf(counts), 0),
      dead: messagesIn(countsOf(subscription.deadLetter?.queue)),
      series: history.series(this.clock.now()),
      failures: history.failures,
    };
  }
}

function keyOf({ connection, handler, name }: SubscriptionMetadata): string {
  return JSON.stringify([connection ?? '', handler, name]);
}

function messagesIn(counts: MessageCounts | undefined): number | undefined {
  return counts && messagesOf(counts);
}

function messagesOf(counts: MessageCounts | undefined): number {
  return counts === undefined ? 0 : counts.ready + (counts.unacknowledged ?? 0);
}
