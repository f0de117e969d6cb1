/** One instrument: its name, its unit and what it measures. */
export interface Instrument {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
}

/** The metrics. Those that begin with `messaging.` follow OpenTelemetry's conventions. */
export const INSTRUMENTS = {
  consumed: {
    name: 'messaging.client.consumed.messages',
    unit: '{message}',
    description: 'Messages that were handled.',
  },
  duration: {
    name: 'messaging.process.duration',
    unit: 's',
    description: 'From the start of the handling of a message to its settlement.',
  },
  settlements: {
    name: 'settle.settlements',
    unit: '{message}',
    description: 'Deliveries by outcome, decision, status and reason.',
  },
  attempts: {
    name: 'settle.attempts',
    unit: '{message}',
    description: 'Messages that have ended, by the number of their attempts.',
  },
  queueTime: {
    name: 'settle.queue_time',
    unit: 's',
    description: 'From the arrival of a message at RabbitMQ to the start of its first handling.',
  },
  inFlight: {
    name: 'settle.deliveries.in_flight',
    unit: '{message}',
    description: 'Deliveries that are running or being settled.',
  },
  waiting: {
    name: 'settle.deliveries.waiting',
    unit: '{message}',
    description: 'Deliveries that concurrency, rate, batch or order holds back.',
  },
  busiestKey: {
    name: 'settle.deliveries.busiest_key',
    unit: '{message}',
    description: 'Deliveries of the key that has the most; of subscriptions with order.',
  },
  oldestAge: {
    name: 'settle.deliveries.oldest_age',
    unit: 's',
    description: 'How long the oldest delivery has been in flight; 0 if there is none.',
  },
  stuck: {
    name: 'settle.deliveries.stuck',
    unit: '{message}',
    description: 'Deliveries that have been in flight longer than stuckAfter, since the start.',
  },
  state: {
    name: 'settle.subscription.state',
    unit: '',
    description: '1 for the state of a subscription, and the cause of its pause; 0 for all others.',
  },
  reconnects: {
    name: 'settle.subscription.reconnects',
    unit: '{reconnect}',
    description: 'How often a subscription has lost its channel or connection.',
  },
} as const satisfies Readonly<Record<string, Instrument>>;
