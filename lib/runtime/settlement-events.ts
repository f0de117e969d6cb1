import type { LoggerService } from '@nestjs/common';
import { Subject } from 'rxjs';
import { messages } from '../outcome/messages';
import type { Settlement } from '../settlement/settlement';
import { writeLine } from '../subscription/log';
import { GuardedObservable } from './guarded-observable';

/**
 * The settlements of the application, one event a delivery, each at most once; injectable. It completes
 * when the application has closed. An error in a subscriber, or in an operator of a pipe without an error
 * handler, is logged and harms nothing.
 * @publicApi
 */
export class SettlementEvents extends GuardedObservable<Settlement> {
  readonly #subject: Subject<Settlement>;

  constructor(logger: LoggerService) {
    const subject = new Subject<Settlement>();
    super(
      (error) => writeLine(logger, 'error', messages.eventListenerThrew, error),
      (subscriber) => subject.subscribe(subscriber),
    );
    this.#subject = subject;
  }

  /** Whether anybody listens. */
  get observed(): boolean {
    return this.#subject.observed;
  }

  /** Hands out one settlement. Never throws. */
  emit(settlement: Settlement): void {
    this.#subject.next(settlement);
  }

  /** Ends the stream. */
  complete(): void {
    this.#subject.complete();
  }
}
