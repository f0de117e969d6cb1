// @ts-check
/** @typedef {import('./programs.mjs').ProgramLabel} ProgramLabel */

/**
 * A library with a poison message. The queue is declared for it with a delivery limit of 2, which means three
 * deliveries, and a dead-letter route, as RabbitMQ's documentation has it for quorum queues.
 *
 * @typedef {object} PoisonCase
 * @property {ProgramLabel} label
 * @property {string} how
 * @property {boolean | undefined} [declares] whether the library declares the queue itself, without that limit
 * @property {string | undefined} [since] the first release that can do it
 */

/** @type {readonly PoisonCase[]} */
export const poisonCases = [
  { label: 'golevelup', how: 'its default, requeue; delivery limit of the queue' },
  { label: 'nest-microservices', how: 'none: the handler acknowledges by hand' },
  { label: 'poison-nest-requeue', how: 'channel.nack by hand; delivery limit of the queue' },
  { label: 'poison-rascal-republish', how: 'republish, attempts: 2, then nack' },
  { label: 'poison-rascal-requeue', how: 'nack with requeue; delivery limit of the queue' },
  { label: 'rabbitmq-client', how: 'its default, requeue; delivery limit of the queue' },
  { label: 'poison-settle-retry', how: "attempts: 3, onError: 'retry'", declares: true },
  { label: 'poison-settle-backoff', how: 'attempts: 3, backoff of 200 ms', declares: true },
  {
    label: 'poison-settle-broker',
    how: "attempts: 3, by: 'broker', 200 ms, 400 ms",
    declares: true,
    since: '4.3',
  },
];

/**
 * Whether a server is of an older release than this one.
 *
 * @param {string | undefined} version
 * @param {string | undefined} release
 * @returns {boolean}
 */
export function isOlder(version, release) {
  if (version === undefined || release === undefined) return false;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = release.split('.').map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}
