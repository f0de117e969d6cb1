import type { Attributes } from '@opentelemetry/api';
import { failureMarkOf } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import { reasonOf, subscriptionAttributes } from './attributes';

interface Count {
  readonly attributes: Attributes;
  count: number;
}

/** Counts with the attributes that tell them apart, made once for each combination. */
export class Counts {
  readonly #counts = new Map<string, Count>();

  add(key: string, attributes: () => Attributes): void {
    const found = this.#counts.get(key);
    if (found !== undefined) found.count += 1;
    else this.#counts.set(key, { attributes: attributes(), count: 1 });
  }

  observe(result: { observe(value: number, attributes: Attributes): void }): void {
    for (const { count, attributes } of this.#counts.values()) result.observe(count, attributes);
  }
}

/**
 * The counts of one subscription. They are read when metrics are collected: an instrument that is called for
 * each message costs more than all the rest of a message.
 */
export class SettlementCounts {
  readonly settlements = new Counts();
  readonly consumed = new Counts();
  readonly #common: Attributes;
  readonly #durations = new Map<string | undefined, Attributes>();

  constructor(settlement: Settlement) {
    this.#common = subscriptionAttributes(settlement.subscription);
  }

  /** Returns the attributes of the duration; `undefined` if the message was not handled. */
  add(settlement: Settlement): Attributes | undefined {
    const { outcome, decision, status } = settlement;
    const reason = reasonOf(settlement);
    const key = `${outcome.kind} ${decision.kind} ${status} ${reason}`;
    this.settlements.add(key, () => ({
      ...this.#common,
      'settle.outcome': outcome.kind,
      'settle.decision': decision.kind,
      'settle.status': status,
      ...(reason !== undefined && { 'settle.reason': reason }),
    }));
    if (status === 'released') return undefined;
    const cause = failureMarkOf(outcome)?.cause;
    this.consumed.add(`${cause}`, () => this.#processedBy(cause));
    return this.#processedBy(cause);
  }

  #processedBy(cause: string | undefined): Attributes {
    const known = this.#durations.get(cause);
    if (known !== undefined) return known;
    const attributes = {
      ...this.#common,
      'messaging.operation.name': 'process',
      ...(cause !== undefined && { 'error.type': cause }),
    };
    this.#durations.set(cause, attributes);
    return attributes;
  }
}
