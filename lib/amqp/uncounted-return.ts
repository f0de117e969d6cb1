import type { Clock } from '../clock';
import { attemptOf } from '../delivery/attempt';
import { DeliveryRecord } from '../delivery/delivery-record';
import { newHeaderTable, SettleHeaders } from '../delivery/headers';
import { retryMessageOf } from '../delivery/republish';
import type { SubscriptionLog } from '../log/subscription-log';
import { texts } from '../log/texts';
import type { SubscriptionMetadata } from '../model/subscription-metadata';
import type { BrokerDelivery } from './port';
import { countsIn } from './redelivery-counting';

/**
 * Returns a delivery to its queue so that it costs no attempt. A release of RabbitMQ that counts each requeue
 * gets the message republished, with its attempt and a mark, before the delivery is acknowledged. If that
 * fails, the delivery is requeued, counted or not. Never rejects.
 */
export async function returnUncounted(
  delivery: BrokerDelivery,
  subscription: SubscriptionMetadata,
  log: SubscriptionLog,
  clock: Clock,
): Promise<void> {
  if (!isRequeueCounted(delivery, subscription)) return requeue(delivery);
  const { message, queue } = delivery;
  const attempt = attemptOf(message, queue, countsIn(delivery));
  const record = new DeliveryRecord(subscription, message, queue, attempt);
  const copy = retryMessageOf(record, attempt, clock.now());
  const mark = { [SettleHeaders.lostConsumer]: true };
  const headers = Object.assign(newHeaderTable(), copy.headers, mark);
  const result = await delivery.republish({ ...copy, headers }, { to: 'retry', delayMs: 0 });
  if (result.status === 'lost') return;
  if (result.status === 'failed') return requeue(delivery);
  if (result.reduced !== undefined) {
    const { leftOut, refusal } = result.reduced;
    const names = [...leftOut.properties, ...leftOut.headers.map((name) => `header "${name}"`)];
    const text = texts.publishedWithout(queue, names, refusal);
    log.write('headers-dropped', texts.result(record, text, undefined), undefined, record);
  }
  delivery.settle('ack', () => undefined);
}

// Since RabbitMQ 4.3 a requeue costs no attempt, but `retry.maxDeliveries` counts it.
function isRequeueCounted(
  { countsRequeues, acquired }: BrokerDelivery,
  { retry }: SubscriptionMetadata,
): boolean {
  return countsRequeues || acquired >= (retry?.maxDeliveries ?? Number.POSITIVE_INFINITY);
}

function requeue(delivery: BrokerDelivery): void {
  delivery.settle('requeueUnprocessed', () => undefined);
}
