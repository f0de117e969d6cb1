import type { Broker } from './broker';
import { until } from './eventually';

/** Publishes numbers to an exchange, one after the other, from its making until it is stopped. */
export class SteadyPublisher {
  /** The numbers so far; the last one may not be confirmed yet. */
  started = 0;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(broker: Broker, exchange: string, routingKey: string) {
    this.#running = this.#run(broker, exchange, routingKey);
  }

  /** Waits until so many more messages have been published. */
  async goOn(count: number): Promise<void> {
    const enough = this.started + count;
    await until(() => this.started > enough, { what: `${count} more messages`, timeoutMs: 20_000 });
  }

  /** Ends it; resolves with all numbers, each of which has been confirmed. */
  async stop(): Promise<number[]> {
    this.#stopped = true;
    await this.#running;
    return Array.from({ length: this.started }, (_, index) => index + 1);
  }

  async #run(broker: Broker, exchange: string, routingKey: string): Promise<void> {
    while (!this.#stopped) {
      this.started += 1;
      await broker.publish(exchange, routingKey, this.started, { persistent: true });
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
