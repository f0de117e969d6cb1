/** The levels of Nest's logger that this library uses. */
export type LogLevel = 'debug' | 'log' | 'warn' | 'error';

/**
 * Every kind of line that this library logs, with its level. A line shows its kind in brackets;
 * docs/troubleshooting.md has a heading for each.
 */
export const LOG_KINDS = {
  // What became of a message.
  acknowledged: 'debug',
  skipped: 'warn',
  retrying: 'log',
  requeued: 'log',
  'dead-lettered': 'error',
  rejected: 'error',
  'fail-fast': 'error',
  'no-ack': 'warn',
  'not-acknowledged': 'warn',
  'republish-failed': 'error',
  'poison-message': 'error',
  'headers-dropped': 'error',

  // What a handler, its policies or an enhancer did.
  'unexpected-result': 'warn',
  'invalid-delay': 'error',
  'delay-ignored': 'warn',
  'endless-retry': 'warn',
  'enhancer-error': 'warn',
  'swallowed-error': 'warn',
  'predicate-failed': 'error',
  'policy-failed': 'error',
  'after-settlement-failed': 'error',
  'listener-failed': 'error',
  'internal-error': 'error',

  // What a subscription is doing.
  startup: 'log',
  'global-pipes': 'log',
  disabled: 'log',
  consuming: 'log',
  paused: 'log',
  resumed: 'log',
  'consumer-paused': 'warn',
  'slow-start': 'warn',
  'slow-start-ended': 'log',
  'kill-switch-tripped': 'error',
  'kill-switch-probing': 'log',
  'kill-switch-closed': 'log',
  'channel-closed': 'error',
  reconnecting: 'error',
  refused: 'error',
  'stuck-delivery': 'warn',
  'hot-key': 'warn',
  'hot-key-ended': 'log',

  // What differs between a subscription and its queue or server.
  'not-counting': 'error',
  'delivery-limit': 'warn',
  'unknown-delivery-limit': 'log',
  'missing-exchange': 'warn',
  'missing-permission': 'warn',
  'waiting-queue-unavailable': 'warn',
  'ignored-option': 'warn',
  'request-scoped-enhancers': 'warn',

  // The application.
  'missing-module': 'warn',
  'unused-handlers': 'warn',
  console: 'log',
  shutdown: 'log',
  'shutdown-timeout': 'warn',
  'shutdown-failed': 'error',
  exit: 'error',
} as const satisfies Readonly<Record<string, LogLevel>>;

/** The name of a kind of line. */
export type LogKind = keyof typeof LOG_KINDS;
