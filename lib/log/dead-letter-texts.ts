import { counted, errorText, found } from './format';

/** A number with its digits in groups of three: `10 000`. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ' ');
}

/** Reading, replaying and discarding dead letters. */
export const deadLetterTexts = {
  deadLetterFilterUnknown: (name: string): string =>
    `where: expected reason, errorName, handler, messageId, group, from or to; found ${found(name)}`,
  deadLetterFilterInvalid: (name: string, expected: string, value: unknown): string =>
    `where.${name}: expected ${expected}; found ${found(value)}`,
  deadLetterOptionInvalid: (name: string, expected: string, value: unknown): string =>
    `${name}: expected ${expected}; found ${found(value)}`,
  replayToItself: (queue: string): string =>
    `to: expected another queue than the dead-letter queue; found "${queue}"`,
  discardUnconfirmed:
    'discard deletes messages: expected dryRun: true, or the token of a dry run as confirm; found neither',
  discardTokenInvalid: (token: unknown): string =>
    `confirm: expected the token of a dry run with the same queue, filter, ids and limit; found ${found(token)}`,
  noDeliveries: (queue: string, ready: number): string =>
    `queue "${queue}" has ${counted(ready, 'ready message')} but delivers none: another consumer is active, or the queue is not available`,
  notConnectedInTime: 'RabbitMQ did not answer within 10s',
  deadLettersClosed: 'aborted: the application is shutting down',
  deadLetterConnectionMissing: (name: string, known: readonly string[]): string =>
    `SettleDeadLettersModule: expected the name of a connection of RabbitMQModule (${known.join(', ') || 'there is none'}); found "${name}"`,
  /** How far a scan has looked. */
  scanned: (scanned: number, total: number): string =>
    scanned >= total
      ? `all ${grouped(total)} messages`
      : `the first ${grouped(scanned)} of ${grouped(total)} messages`,
  replayNoOrigin: 'no header tells the queue in which the message failed; set a target queue',
  replayTargetMissing: (queue: string): string => `queue "${queue}" does not exist`,
  replayTargetRefused: (queue: string): string =>
    `queue "${queue}" refused the message (basic.nack): it is full or not available`,
  replayUnconfirmed: (queue: string, reason: unknown): string =>
    `queue "${queue}": not confirmed, the message can be in both queues (${errorText(reason)})`,
  replayUnencodable: (queue: string, reason: unknown): string =>
    `queue "${queue}": the message could not be encoded (${errorText(reason)})`,
  replayMessageRefused: (queue: string, reason: unknown): string =>
    `queue "${queue}": RabbitMQ does not accept the message (${errorText(reason)})`,
  replayNotPermitted: (queue: string, reason: unknown): string =>
    `queue "${queue}": nothing may be published to it (${errorText(reason)})`,
  replayNotConfirmedInTime: 'RabbitMQ did not confirm in time',
};
