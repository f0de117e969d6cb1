import type {
  BrokerDelivery,
  RepublishResult,
  RepublishTarget,
  SettleAction,
  Written,
} from '../../../lib/amqp/port';
import { DeliveryRecord } from '../../../lib/delivery/delivery-record';
import type { OutgoingMessage } from '../../../lib/delivery/republish';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { RepublishError } from '../../../lib/model/errors';
import type { SubscribeOptions } from '../../../lib/model/options';
import type { Outcome } from '../../../lib/model/outcome';
import { type FixedPolicy, outcomeOfPolicy } from '../../../lib/model/policy';
import type { Settlement } from '../../../lib/model/settlement';
import type { InFlight } from '../../../lib/settlement/in-flight';
import type { ReceiverHost } from '../../../lib/settlement/receiver-host';
import { Settler } from '../../../lib/settlement/settler';
import { FakeClock } from '../../support/fake-clock';
import { aLog, aMessage, aSubscription, QUEUE, RecordingLogger } from '../fixtures';

interface Published {
  readonly message: OutgoingMessage;
  readonly target: RepublishTarget;
}

/** Records how a delivery is settled. A republished message waits until the test answers. */
export class FakeBrokerDelivery implements BrokerDelivery {
  readonly queue = QUEUE;
  acquired = 0;
  countsRequeues = false;
  readonly published: Published[] = [];
  /** Whether its channel is open. */
  isOpen = true;
  answer: (result: RepublishResult) => void = () => {};

  constructor(
    readonly message: IncomingMessage,
    readonly countsRedeliveries: boolean,
    private readonly steps: string[],
  ) {}

  settle(action: SettleAction, written: Written): void {
    this.steps.push(action);
    written(this.isOpen);
  }

  leave(): void {
    this.steps.push('leave');
  }

  republish(message: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult> {
    this.published.push({ message, target });
    this.steps.push(`republish to ${target.to}`);
    return new Promise((resolve) => {
      this.answer = resolve;
    });
  }
}

/** Every result of a republish. */
export const republishResults = {
  confirmed: { status: 'confirmed' },
  failed: {
    status: 'failed',
    tries: 5,
    error: new RepublishError('the queue is full', { scope: 'broker' }),
  },
  lost: { status: 'lost' },
} as const satisfies Readonly<Record<RepublishResult['status'], RepublishResult>>;

interface Given {
  readonly options?: SubscribeOptions;
  readonly message?: IncomingMessage;
  readonly attempt?: number;
  readonly countsRedeliveries?: boolean;
  readonly isStopping?: boolean;
  readonly isPaused?: boolean;
  readonly isObserved?: boolean;
}

/** A settler whose host records its calls, in one list with what is sent to the broker. */
export function aSettler(given: Given = {}) {
  const { options = {}, message = aMessage({ properties: { messageId: 'm-1' } }) } = given;
  const steps: string[] = [];
  const settlements: Settlement[] = [];
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const subscription = aSubscription(options);
  const counts = given.countsRedeliveries ?? false;
  const brokerDelivery = new FakeBrokerDelivery(message, counts, steps);
  const delivery = new DeliveryRecord(subscription, message, QUEUE, given.attempt ?? 1);
  const inFlight: InFlight = {
    delivery,
    brokerDelivery,
    startedAt: clock.monotonic(),
    settling: false,
    givenUp: false,
    previous: undefined,
    next: undefined,
  };
  const host: ReceiverHost = {
    clock,
    log: aLog(logger, clock),
    prefetch: 10,
    isStopping: () => given.isStopping ?? false,
    isPaused: () => given.isPaused ?? false,
    pauseAfterFailure: async () => {
      steps.push('pause');
      await clock.endTurn();
      steps.push('cancelled');
    },
    pauseStuck: () => steps.push('stuck'),
    pauseFor: async (ms) => {
      steps.push(`pause for ${ms}`);
      await clock.endTurn();
      steps.push('cancelled');
    },
    republished: () => undefined,
    consumerCancelled: async () => {
      await clock.endTurn();
      steps.push('cancelled');
    },
    failFast: (_inFlight, error) => steps.push(`fail fast: ${String(error)}`),
    isObserved: () => given.isObserved ?? true,
    settled: (settlement) => {
      settlements.push(settlement);
      steps.push(`settled: ${settlement.status}`);
    },
  };
  const settler = new Settler(subscription, host, () => steps.push('finished'));
  return {
    settler,
    inFlight,
    brokerDelivery,
    steps,
    settlements,
    clock,
    logger,
    delivery,
    subscription,
  };
}

/** The outcome of a handler that failed, after its policy was applied. */
export function failedWith(
  policy: FixedPolicy,
  cause: Parameters<typeof outcomeOfPolicy>[1] = 'error',
  error: unknown = new Error('the bank is closed'),
): Outcome {
  return outcomeOfPolicy(policy, cause, error, true);
}
