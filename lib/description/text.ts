import { counted, durationText, queueText } from '../log/format';
import { texts } from '../log/texts';
import type {
  ApplicationDescription,
  ConsumerDescription,
  EffectDescription,
  SubscriptionDescription,
} from './description';

/** A description for people: each queue with what belongs to it, and a table of effects for each method. */
export function descriptionText({ consumers }: ApplicationDescription): string {
  return consumers.map(consumerText).join('\n\n');
}

function consumerText(consumer: ConsumerDescription): string {
  const { queue, queueType, noAck, prefetch, connection, consumes } = consumer;
  const type = noAck ? `${queueType}, noAck` : queueType;
  const head = `${queueText(queue)} (${type}), connection "${connection}", prefetch ${prefetch}`;
  const lines = [
    consumes ? head : `${head}, ${texts.notConsumed}`,
    ...consumer.bindings.map(
      ({ exchange, routingKey }) =>
        `  bound to exchange "${exchange}", routing key "${routingKey}"`,
    ),
    ...consumer.queues
      .filter(({ purpose }) => purpose !== 'subscription')
      .map(({ name, purpose, declared }) => `  ${purpose} queue "${name}" (declared: ${declared})`),
    ...consumer.subscriptions.flatMap((subscription) => ['', ...subscriptionLines(subscription)]),
  ];
  return lines.join('\n');
}

function subscriptionLines(subscription: SubscriptionDescription): string[] {
  const { handler, when, retry, deadLetter, timeout, effects } = subscription;
  const { concurrency, rate, batch } = subscription;
  const facts = [
    ...(when === undefined ? [] : [`when ${when}`]),
    retry === undefined
      ? 'no retry limit'
      : `${counted(retry.attempts, 'attempt')}, backoff ${retry.backoff}`,
    deadLetter === undefined ? 'no dead-letter queue' : `dead letters to "${deadLetter.queue}"`,
    timeout === undefined ? 'no timeout' : `timeout ${durationText(timeout)}`,
    ...(concurrency === undefined ? [] : [`concurrency ${concurrency}`]),
    ...(rate === undefined ? [] : [`rate ${rate.limit} per ${durationText(rate.per)}`]),
    ...(batch === undefined ? [] : [`batches of ${batch.size} after ${durationText(batch.wait)}`]),
  ];
  return [`  ${handler}: ${facts.join('; ')}`, ...tableLines(effects).map((line) => `    ${line}`)];
}

function tableLines(effects: readonly EffectDescription[]): string[] {
  const rows = [
    ['event', 'policy', 'what happens', 'on the last attempt'],
    ...effects.map(({ event, policy = '', effect, onLastAttempt = '' }) => [
      event,
      policy,
      effect,
      onLastAttempt,
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const [head = [], ...others] = rows;
  return [line(head), widths.map((width) => '-'.repeat(width)).join('  '), ...others.map(line)];
}
