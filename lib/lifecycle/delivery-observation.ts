import { Inject, Injectable, type LoggerService } from '@nestjs/common';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { writeLine } from '../log/subscription-log';
import { texts } from '../log/texts';
import { LOGGER } from '../nest/tokens';
import type { DeliveryObserver } from '../settlement/delivery-observer';

/** Where another module of this package has its observer follow the deliveries of the application. */
@Injectable()
export class DeliveryObservation {
  #observer: DeliveryObserver | undefined;

  constructor(@Inject(LOGGER) private readonly logger: LoggerService) {}

  /** The observer; `undefined` if there is none. It never throws. */
  get observer(): DeliveryObserver | undefined {
    return this.#observer;
  }

  /**
   * Sets the observer; to be called before the application has booted.
   * @throws Error if there is one already.
   */
  observe(observer: DeliveryObserver): void {
    if (this.#observer !== undefined) throw new Error(texts.observerTwice);
    this.#observer = {
      began: (delivery) => this.#guarded(() => observer.began(delivery), delivery),
      ended: (delivery, outcome) =>
        this.#guarded(() => observer.ended(delivery, outcome), delivery),
      batchBegan: (batch) => {
        const [first] = batch;
        if (first === undefined) return undefined;
        const observed = this.#guarded(() => observer.batchBegan(batch), first);
        return (
          observed && {
            inContext: (work) => observed.inContext(work),
            ended: (outcomes) => this.#guarded(() => observed.ended(outcomes), first),
          }
        );
      },
    };
  }

  #guarded<T>(work: () => T, delivery: DeliveryRecord): T | undefined {
    try {
      return work();
    } catch (error) {
      writeLine(this.logger, 'listener-failed', texts.observerThrew(delivery), error);
      return undefined;
    }
  }
}
