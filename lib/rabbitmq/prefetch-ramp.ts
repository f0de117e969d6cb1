/** The prefetch of a consumer that starts slowly: 1 first, doubled with each success, up to the configured one. */
export class PrefetchRamp {
  #prefetch: number;

  /** @param configured the prefetch with which the ramp begins and ends; at least 1. */
  constructor(readonly configured: number) {
    this.#prefetch = configured;
  }

  get prefetch(): number {
    return this.#prefetch;
  }

  get isAtTop(): boolean {
    return this.#prefetch === this.configured;
  }

  /** Begins at 1. */
  restart(): void {
    this.#prefetch = 1;
  }

  succeeded(): void {
    this.#prefetch = Math.min(this.#prefetch * 2, this.configured);
  }

  /**
   * Whether another consumer may start with `prefetch` while deliveries of the previous one are unsettled:
   * RabbitMQ does not count these for the new one, and both together never exceed what is configured.
   */
  allows(prefetch: number, unsettled: number): boolean {
    return unsettled + prefetch <= this.configured;
  }
}
