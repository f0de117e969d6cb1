import type { Clock } from '../clock';
import type {
  PauseCause,
  SubscriptionState,
  SubscriptionStateChange,
} from '../model/subscription-status';

/** A change of the state, without whose it is. */
export type StateChange = Omit<SubscriptionStateChange, 'subscription'>;

/**
 * The state of one consumer, as users see it. A paused one stays paused, whatever its connection
 * does meanwhile; `disabled` and `stopped` are final, but for the stop of a disabled one.
 */
export class SubscriptionStateRecord {
  /** What the consumer does, apart from pauses. */
  #consumer: Exclude<SubscriptionState, 'paused'> = 'starting';
  #state: SubscriptionState = 'starting';
  #cause: PauseCause | undefined;
  #since: Date;

  constructor(
    private readonly clock: Clock,
    private readonly changed: (change: StateChange) => void,
  ) {
    this.#since = new Date(clock.now());
  }

  get state(): SubscriptionState {
    return this.#state;
  }

  /** Why it is paused. */
  get cause(): PauseCause | undefined {
    return this.#state === 'paused' ? this.#cause : undefined;
  }

  /** Since when state and cause are what they are. */
  get since(): Date {
    return this.#since;
  }

  enter(state: Exclude<SubscriptionState, 'paused'>, error?: unknown): void {
    this.#change(state, this.#cause, error);
  }

  /** @param cause the most important cause that is left; `undefined` if it is to consume again. */
  pausedBy(cause: PauseCause | undefined, error?: unknown): void {
    const isOpened = cause === undefined && this.#cause !== undefined;
    // It has to be confirmed that it consumes.
    const isOver = this.#consumer === 'disabled' || this.#consumer === 'stopped';
    this.#change(isOpened && !isOver ? 'reconnecting' : this.#consumer, cause, error);
  }

  #change(
    consumer: Exclude<SubscriptionState, 'paused'>,
    cause: PauseCause | undefined,
    error: unknown,
  ): void {
    if (this.#consumer === 'stopped') return;
    const [from, before] = [this.#state, this.cause];
    this.#consumer = consumer;
    this.#cause = cause;
    const isOver = consumer === 'disabled' || consumer === 'stopped';
    this.#state = cause === undefined || isOver ? consumer : 'paused';
    if (this.#state === from && this.cause === before) return;
    const at = new Date(this.clock.now());
    this.#since = at;
    this.changed({
      from,
      to: this.#state,
      ...(this.cause !== undefined && { cause: this.cause }),
      ...(error !== undefined && { error }),
      at,
    });
  }
}
