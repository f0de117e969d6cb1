import type { Clock } from '../clock';
import type { Outcome } from '../model/outcome';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import { isThenable } from '../model/thenable';
import { type BatchHandling, READY } from '../pipeline/batch';
import { BatchCollector } from './batch-collector';
import type { DeliveryLine } from './delivery-line';
import type { InFlight } from './in-flight';
import { WaitingLine } from './waiting-line';

/** What a receiver does for its batches. None throws. */
export interface BatchHost {
  readonly clock: Clock;
  /** The handling of a delivery begins. */
  begin(inFlight: InFlight): void;
  /** Whether the application is shutting down. */
  isStopping(): boolean;
  /** Settles a delivery whose handling has begun. */
  settle(inFlight: InFlight, outcome: Outcome, isStopping: boolean): void;
  /** A defect of this library: the delivery is requeued. */
  internalError(inFlight: InFlight, error: unknown): void;
}

type Batch = readonly InFlight[];

/**
 * Prepares deliveries, collects them to batches and handles these. A delivery that can't be prepared is settled
 * by itself; one that has been tried before is handled alone, so that it costs no other another attempt.
 */
export class BatchLine implements DeliveryLine {
  readonly #preparing = new Set<InFlight>();
  readonly #collector: BatchCollector<InFlight>;
  readonly #line: WaitingLine<Batch>;
  readonly #isolatesRetries: boolean;

  constructor(
    batch: NonNullable<SubscriptionMetadata['batch']>,
    { rate }: SubscriptionMetadata,
    private readonly handling: BatchHandling,
    private readonly host: BatchHost,
  ) {
    const { clock } = host;
    const { concurrency } = batch;
    this.#isolatesRetries = batch.isolateRetries;
    this.#line = new WaitingLine({ concurrency, rate }, clock, (one) => this.#handle(one));
    this.#collector = new BatchCollector(batch, clock, (one) => this.#line.add(one));
  }

  get size(): number {
    return [...this.list].length;
  }

  get list(): readonly InFlight[] {
    return [...this.#line.list.flat(), ...this.#collector.list, ...this.#preparing];
  }

  add(inFlight: InFlight): void {
    this.#preparing.add(inFlight);
    try {
      const outcome = inFlight.delivery.inContext(() => this.handling.prepare(inFlight.delivery));
      if (!isThenable(outcome)) return this.#prepared(inFlight, outcome);
      outcome.then(
        (later) => this.#prepared(inFlight, later),
        (error: unknown) => this.#notPrepared(inFlight, error),
      );
    } catch (error) {
      this.#notPrepared(inFlight, error);
    }
  }

  clear(): readonly InFlight[] {
    const all = [...this.#line.clear().flat(), ...this.#collector.clear(), ...this.#preparing];
    this.#preparing.clear();
    return all;
  }

  #prepared(inFlight: InFlight, outcome: Outcome): void {
    if (!this.#preparing.delete(inFlight)) return; // It was requeued or forgotten meanwhile.
    if (outcome !== READY) {
      this.#refused(inFlight, outcome);
    } else if (this.#isolatesRetries && wasTried(inFlight)) {
      this.#line.add([inFlight]);
    } else {
      this.#collector.add(inFlight);
    }
  }

  #refused(inFlight: InFlight, outcome: Outcome): void {
    const { handling, host } = this;
    host.begin(inFlight);
    const settle = (end: Outcome): void => host.settle(inFlight, end, host.isStopping());
    if (handling.refused === undefined) return settle(outcome);
    handling
      .refused(inFlight.delivery, outcome)
      .then(settle, (error: unknown) => host.internalError(inFlight, error));
  }

  #notPrepared(inFlight: InFlight, error: unknown): void {
    if (!this.#preparing.delete(inFlight)) return;
    this.host.begin(inFlight);
    this.host.internalError(inFlight, error);
  }

  #handle(batch: Batch): void {
    for (const inFlight of batch) {
      inFlight.batchSize = batch.length;
      this.host.begin(inFlight);
    }
    void this.#run(batch).then(() => this.#line.ended());
  }

  async #run(batch: Batch): Promise<void> {
    const deliveries = batch.map(({ delivery }) => delivery);
    try {
      const call = (): Promise<readonly Outcome[]> => this.handling.call(deliveries);
      const outcomes = await (deliveries[0]?.inContext(call) ?? call());
      // A failFast of one of them begins the shutdown; the others of the batch are to be left, too.
      const isStopping = this.host.isStopping();
      for (const [index, inFlight] of batch.entries()) {
        const outcome = outcomes[index];
        if (outcome !== undefined) this.host.settle(inFlight, outcome, isStopping);
      }
    } catch (error) {
      for (const inFlight of batch) this.host.internalError(inFlight, error);
    }
  }
}

// A queue that does not count tells only that it has delivered the message before.
function wasTried({ delivery, brokerDelivery }: InFlight): boolean {
  return delivery.attempt > 1 || (delivery.redelivered && !brokerDelivery.countsRedeliveries);
}
