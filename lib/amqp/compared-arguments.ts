import type { QueueType } from '../model/options';
import { isAtLeast, type ServerVersion } from './queue-declarations';

const COMMON = [
  'x-expires',
  'x-message-ttl',
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  'x-max-length',
  'x-max-length-bytes',
];
const CLASSIC = [
  ...COMMON,
  'x-max-priority',
  'x-overflow',
  'x-queue-mode',
  'x-queue-version',
  'x-single-active-consumer',
  'x-queue-type',
  'x-queue-master-locator',
];
const QUORUM = [
  'x-dead-letter-exchange',
  'x-dead-letter-routing-key',
  'x-dead-letter-strategy',
  'x-expires',
  'x-max-length',
  'x-max-length-bytes',
  'x-max-in-memory-length',
  'x-max-in-memory-bytes',
  'x-overflow',
  'x-single-active-consumer',
  'x-queue-type',
  'x-quorum-initial-group-size',
  'x-delivery-limit',
  'x-message-ttl',
  'x-queue-leader-locator',
];
const QUORUM_FROM_4_3 = [
  'x-consumer-disconnected-timeout',
  'x-consumer-timeout',
  'x-delayed-retry-type',
  'x-delayed-retry-min',
  'x-delayed-retry-max',
];

/** The arguments that a queue of a type has, in the order in which the server compares them. */
export function comparedArgumentsOf(type: QueueType, version: ServerVersion): readonly string[] {
  if (type === 'quorum') {
    return isAtLeast(version, [4, 3]) ? [...QUORUM, ...QUORUM_FROM_4_3] : QUORUM;
  }
  return isAtLeast(version, [4, 0]) ? [...CLASSIC, 'x-queue-leader-locator'] : CLASSIC;
}
