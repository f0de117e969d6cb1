import type { Decision } from '../model/decision';
import { type DecisionOptions, decisionAtTheCap } from './decide';

/**
 * The decision about a delivery whose handler must not be called: it arrives beyond the cap, since its
 * consumer died on the last attempt, or RabbitMQ has delivered it more often than
 * `retry.maxDeliveries`. `undefined` if the handler is to be called. Pure.
 * @param attempt the number of this attempt, from 1.
 * @param acquired how often the broker has delivered the message, this time included; 0 if unknown.
 */
export function admit(
  attempt: number,
  acquired: number,
  options: DecisionOptions,
): Decision | undefined {
  const { retry, noAck } = options;
  if (retry === undefined || noAck) return undefined;
  const { attempts, maxDeliveries = Number.POSITIVE_INFINITY } = retry;
  return attempt > attempts || acquired > maxDeliveries ? decisionAtTheCap(options) : undefined;
}
