import type { DeliveryRecord } from '../delivery/delivery-record';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { Decision } from '../model/decision';
import { type DecisionOptions, decisionAtTheCap } from './decide';

/**
 * The decision about a delivery whose handler must not be called: it arrives beyond the cap, since its
 * consumer died on the last attempt, or RabbitMQ has delivered it more often than
 * `retry.maxDeliveries`. `undefined` if the handler is to be called. Pure.
 *
 * Deliveries alone never cost a message: a requeue after a failed republish is one, too. Without
 * `deadLetter` the handler is called.
 * @param attempt the number of this attempt, from 1.
 * @param acquired how often the broker has delivered the message, this time included; 0 if unknown.
 */
export function admit(
  attempt: number,
  acquired: number,
  options: DecisionOptions,
): Decision | undefined {
  const { retry, noAck, deadLetter } = options;
  if (retry === undefined || noAck) return undefined;
  if (attempt > retry.attempts) return decisionAtTheCap(options);
  return deadLetter && isPoison(acquired, options) ? decisionAtTheCap(options) : undefined;
}

/** Whether RabbitMQ has delivered a message more often than `retry.maxDeliveries`. */
export function isPoison(acquired: number, { retry }: DecisionOptions): boolean {
  return acquired > (retry?.maxDeliveries ?? Number.POSITIVE_INFINITY);
}

/** Reports a message that RabbitMQ has delivered more often than `retry.maxDeliveries`. */
export function warnOfPoison(
  delivery: DeliveryRecord,
  acquired: number,
  log: SubscriptionLog,
): void {
  const { retry, deadLetter } = delivery.subscription;
  if (retry === undefined || delivery.attempt > retry.attempts) return;
  if (!isPoison(acquired, delivery.subscription)) return;
  const isEnded = deadLetter !== undefined;
  log.write(
    'poison-message',
    texts.poisonMessage(delivery, acquired, retry.maxDeliveries, isEnded),
  );
}
