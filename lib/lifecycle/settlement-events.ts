import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import { Subject } from 'rxjs';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { Settlement } from '../model/settlement';
import { LOGGER } from '../nest/tokens';
import { DeliveryObservation } from './delivery-observation';
import { GuardedObservable } from './guarded-observable';

/** The source of {@link SettlementEvents}: emits each settlement once, and completes at shutdown. */
@Injectable()
export class SettlementStream {
  readonly #subject = new Subject<Settlement>();
  readonly events: SettlementEvents;

  constructor(
    @Inject(LOGGER) logger: LoggerService,
    readonly observation: DeliveryObservation,
  ) {
    this.events = new SettlementEvents(this.#subject, (error) =>
      writeLine(logger, 'listener-failed', texts.eventListenerThrew('SettlementEvents'), error),
    );
  }

  /** Whether anything subscribes. */
  get isObserved(): boolean {
    return this.#subject.observed;
  }

  /** Never throws. */
  emit(settlement: Settlement): void {
    this.#subject.next(settlement);
  }

  complete(): void {
    this.#subject.complete();
  }
}

/**
 * The settlements of the application, one event per delivery, each at most once; injectable. Completes when
 * the application has closed. An error in a subscriber, or in an operator of a pipe without an error
 * handler, is logged and harms nothing.
 * @publicApi
 */
export class SettlementEvents extends GuardedObservable<Settlement> {
  /** @internal */
  constructor(source: Subject<Settlement>, report: (error: unknown) => void) {
    super(report, (subscriber) => source.subscribe(subscriber));
  }
}
