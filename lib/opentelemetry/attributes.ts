import type { Attributes } from '@opentelemetry/api';
import type { DeliveryRecord } from '../delivery/delivery-record';
import { failureMarkOf, type Outcome } from '../model/outcome';
import type { Settlement } from '../model/settlement';
import type { SubscriptionMetadata } from '../model/subscription-metadata';

/** The name of the tracer and the meter. */
export const SCOPE = 'nestjs-settle';

/**
 * The address of a delivered message as OpenTelemetry's conventions for RabbitMQ write it: exchange, routing
 * key and queue, without the default exchange, and without a queue that is the routing key.
 */
export function destinationOf({ exchange, routingKey, queue }: DeliveryRecord): string {
  const parts = routingKey === queue ? [exchange, queue] : [exchange, routingKey, queue];
  return parts.filter((part) => part !== '').join(':');
}

/** What is known of a delivery when its handling begins. */
export function deliveryAttributes(delivery: DeliveryRecord): Attributes {
  const { subscription, message, attempt } = delivery;
  const { correlationId } = message.properties as { readonly correlationId?: string };
  return {
    'messaging.system': 'rabbitmq',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': destinationOf(delivery),
    ...(subscription.queue === undefined && { 'messaging.destination.anonymous': true }),
    ...(delivery.routingKey !== '' && {
      'messaging.rabbitmq.destination.routing_key': delivery.routingKey,
    }),
    'messaging.rabbitmq.message.delivery_tag': message.fields.deliveryTag,
    'messaging.message.body.size': message.content.length,
    ...(delivery.messageId !== undefined && { 'messaging.message.id': delivery.messageId }),
    ...(correlationId !== undefined && { 'messaging.message.conversation_id': correlationId }),
    'settle.handler': subscription.handler,
    'settle.attempt': attempt,
    ...(subscription.retry && { 'settle.attempts': subscription.retry.attempts }),
  };
}

/** What became of a delivery. */
export function settlementAttributes(settlement: Settlement): Attributes {
  const { outcome, decision, status, republished } = settlement;
  const reason = reasonOf(settlement);
  return {
    'settle.outcome': outcome.kind,
    'settle.decision': decision.kind,
    'settle.status': status,
    ...(reason !== undefined && { 'settle.reason': reason }),
    ...(decision.kind === 'republish' && { 'settle.delay': decision.delayMs / 1_000 }),
    ...(republished !== undefined && { 'settle.republished.queue': republished.queue }),
  };
}

/** What the handler of a delivery has decided that is handled again in this process. */
export function outcomeAttributes(outcome: Outcome): Attributes {
  const cause = failureMarkOf(outcome)?.cause;
  return {
    'settle.outcome': outcome.kind,
    ...(cause !== undefined && { 'settle.reason': cause }),
  };
}

/** Why a message is dead-lettered, or why its policy applied; `undefined` if its handler decided. */
export function reasonOf({ decision, outcome }: Settlement): string | undefined {
  return decision.kind === 'deadLetter' ? decision.reason : failureMarkOf(outcome)?.cause;
}

/** The attributes of every metric of a subscription. A server-named queue has another name on each channel. */
export function subscriptionAttributes({ handler, queue }: SubscriptionMetadata): Attributes {
  return {
    'messaging.system': 'rabbitmq',
    ...(queue === undefined
      ? { 'messaging.destination.anonymous': true }
      : { 'messaging.destination.name': queue }),
    'settle.handler': handler,
  };
}
