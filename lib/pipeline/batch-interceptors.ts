import { AsyncResource } from 'node:async_hooks';
import type { Clock, Timer } from '../clock';
import { runAsCurrent } from '../delivery/current-delivery';
import type { DeliveryRecord } from '../delivery/delivery-record';
import type { DeliveryInterceptor } from '../model/interceptor';
import type { Outcome } from '../model/outcome';
import type { BatchHandling } from './batch';
import { catchAll, type FailureToOutcome } from './failure-policy';
import { type Chain, compose, type Handling } from './interceptor';

/** What the interceptors around the deliveries of batches depend on. */
export interface BatchInterceptorDependencies {
  /** The application's interceptors, outermost first; at least one. */
  readonly interceptors: readonly DeliveryInterceptor[];
  readonly toOutcome: FailureToOutcome;
  readonly clock: Clock;
  /** How long those that have called `next` wait for the others, in ms. */
  readonly wait: number;
  /** Whether `currentDelivery()` gives the delivery. */
  readonly hasContext: boolean;
}

/**
 * Surrounds each delivery with the interceptors. `next` of all deliveries of a batch is one call, and each
 * resolves with the outcome of its own delivery. A delivery whose interceptors do not call `next` is not in the
 * call. What calls `next` too late is handled in a further call, so that interceptors may wait for each other.
 */
export function interceptBatches(
  call: BatchHandling['call'],
  parts: BatchInterceptorDependencies,
): Required<Pick<BatchHandling, 'call' | 'refused'>> {
  const { hasContext } = parts;
  const chainTo = (last: Handling<DeliveryRecord>): Chain<DeliveryRecord> => {
    const captured: Handling<DeliveryRecord> = (delivery) => {
      delivery.captureContext();
      return last(delivery);
    };
    const chain = catchAll(compose(parts.interceptors, captured), parts.toOutcome);
    if (!hasContext) return chain;
    return (delivery) => runAsCurrent(delivery, () => chain(delivery));
  };
  // Without a current delivery, in a context of its own: in that of a delivery, its policies would have none either.
  const bare: BatchHandling['call'] = (batch) =>
    new AsyncResource('SettleBatch').runInAsyncScope(() =>
      runAsCurrent(undefined, () => call(batch)),
    );
  return {
    call: (batch) => {
      const gathering = new Gathering(batch.length, hasContext ? bare : call, parts);
      const chain = chainTo((delivery) => gathering.enter(delivery));
      return Promise.all(
        batch.map(async (delivery) => {
          const outcome = await delivery.inContext(() => chain(delivery));
          gathering.leave(delivery);
          return outcome;
        }),
      );
    },
    refused: (delivery, outcome) => delivery.inContext(() => chainTo(() => outcome)(delivery)),
  };
}

interface Entered {
  readonly delivery: DeliveryRecord;
  readonly resolve: (outcome: Outcome) => void;
}

/** The deliveries of one batch on the way through their interceptors, until they are handled together. */
class Gathering {
  readonly #handled = new Set<DeliveryRecord>();
  #entered: Entered[] = [];
  #timer: Timer | undefined;

  /** @param awaited how many deliveries have neither called `next` nor ended without it. */
  constructor(
    private awaited: number,
    private readonly call: BatchHandling['call'],
    private readonly parts: Pick<BatchInterceptorDependencies, 'clock' | 'wait'>,
  ) {}

  /** An interceptor has called `next`; resolves with the outcome of the delivery. */
  enter(delivery: DeliveryRecord): Promise<Outcome> {
    this.#handled.add(delivery);
    this.awaited -= 1;
    return new Promise((resolve) => {
      this.#entered.push({ delivery, resolve });
      this.#check();
    });
  }

  /** The interceptors of a delivery have ended, perhaps without having called `next`. */
  leave(delivery: DeliveryRecord): void {
    if (this.#handled.has(delivery)) return;
    this.awaited -= 1;
    this.#check();
  }

  #check(): void {
    const { clock, wait } = this.parts;
    if (this.#entered.length === 0) return;
    if (this.awaited === 0) this.#handle();
    else this.#timer ??= clock.after(wait, () => this.#handle());
  }

  #handle(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const entered = this.#entered;
    this.#entered = [];
    const deliveries = entered.map(({ delivery }) => delivery);
    const call = (): Promise<readonly Outcome[]> => this.call(deliveries);
    void (deliveries[0]?.inContext(call) ?? call()).then((outcomes) => {
      for (const [index, { resolve }] of entered.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) resolve(outcome);
      }
    });
  }
}
