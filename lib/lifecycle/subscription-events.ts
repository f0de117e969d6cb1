import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { Subject } from 'rxjs';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionStateChange } from '../model/subscription-status';
import { LOGGER } from '../nest/tokens';
import { GuardedObservable } from './guarded-observable';

/** The source of {@link SubscriptionEvents}: emits each change once, and completes at shutdown. */
@Injectable()
export class SubscriptionStateStream {
  readonly #subject = new Subject<SubscriptionStateChange>();
  readonly events: SubscriptionEvents;

  constructor(@Inject(LOGGER) logger: LoggerService) {
    this.events = new SubscriptionEvents(this.#subject, (error) =>
      writeLine(logger, 'listener-failed', texts.eventListenerThrew('SubscriptionEvents'), error),
    );
  }

  /** Never throws. */
  emit(change: SubscriptionStateChange): void {
    this.#subject.next(change);
  }

  complete(): void {
    this.#subject.complete();
  }
}

/**
 * What the subscriptions of the application are doing: one event for each change of a state or of the cause
 * of a pause; injectable. Completes when the application has closed. An error in a subscriber, or in an
 * operator of a pipe without an error handler, is logged and harms nothing.
 * @example
 * constructor(events: SubscriptionEvents) {
 *   events.subscribe(({ subscription, to, cause }) => this.report(subscription.handler, to, cause));
 * }
 * @publicApi
 */
export class SubscriptionEvents extends GuardedObservable<SubscriptionStateChange> {
  /** @internal */
  constructor(source: Subject<SubscriptionStateChange>, report: (error: unknown) => void) {
    super(report, (subscriber) => source.subscribe(subscriber));
  }
}
