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
import type { SubscribeOptions } from '../../../lib/model/options';
import type { Outcome } from '../../../lib/model/outcome';
import { type FailurePolicy, outcomeOfPolicy } from '../../../lib/model/policy';
import type { Settlement } from '../../../lib/model/settlement';
import type { InFlight } from '../../../lib/settlement/in-flight';
import { type ReceiverHost, Settler } from '../../../lib/settlement/settler';
import { FakeClock } from '../../support/fake-clock';
import { aLog, aMessage, aSubscription, QUEUE, RecordingLogger } from '../fixtures';

/** What a delivery is told, in order. A copy waits until the test says what became of it. */
export class FakeSource implements BrokerDelivery {
  readonly queue = QUEUE;
  readonly acquired = 0;
  readonly copies: { readonly copy: OutgoingMessage; readonly target: RepublishTarget }[] = [];
  /** Whether the channel is still there. */
  isOpen = true;
  answerCopy: (result: RepublishResult) => void = () => {};

  constructor(
    readonly message: IncomingMessage,
    readonly countsRedeliveries: boolean,
    private readonly steps: string[],
  ) {}

  settle(frame: SettleAction, written: Written): void {
    this.steps.push(frame);
    written(this.isOpen);
  }

  leave(): void {
    this.steps.push('leave');
  }

  republish(copy: OutgoingMessage, target: RepublishTarget): Promise<RepublishResult> {
    this.copies.push({ copy, target });
    this.steps.push(`copy to ${target.to}`);
    return new Promise((resolve) => {
      this.answerCopy = resolve;
    });
  }
}

interface Given {
  readonly options?: SubscribeOptions;
  readonly message?: IncomingMessage;
  readonly attempt?: number;
  readonly counts?: boolean;
  readonly isStopping?: boolean;
  readonly isObserved?: boolean;
}

/** A settler whose host note down what they are told, in one list with the frames. */
export function aSettler(given: Given = {}) {
  const { options = {}, message = aMessage({ properties: { messageId: 'm-1' } }) } = given;
  const steps: string[] = [];
  const settlements: Settlement[] = [];
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const subscription = aSubscription(options);
  const source = new FakeSource(message, given.counts ?? false, steps);
  const delivery = new DeliveryRecord(subscription, message, QUEUE, given.attempt ?? 1);
  const run: InFlight = {
    delivery,
    brokerDelivery,
    startedAt: clock.monotonic(),
    settling: false,
    givenUp: false,
  };
  const host: ReceiverHost = {
    clock,
    log: aLog(logger, clock),
    stopping: () => given.isStopping ?? false,
    pauseAfterFailure: async () => {
      steps.push('back off');
      await clock.endTurn();
      steps.push('intake stopped');
    },
    intakeStopped: async () => {
      await clock.endTurn();
      steps.push('intake stopped');
    },
    failFast: (_run, error) => steps.push(`fail fast: ${String(error)}`),
    observed: () => given.isObserved ?? true,
    settled: (settlement) => {
      settlements.push(settlement);
      steps.push(`settled: ${settlement.status}`);
    },
    finished: () => steps.push('finished'),
  };
  const settler = new Settler(subscription, host);
  return { settler, run, source, steps, settlements, clock, logger, delivery, subscription };
}

/** What a policy says of an error, as the chain hands it on. */
export function spoken(
  policy: FailurePolicy,
  cause: Parameters<typeof outcomeOfPolicy>[1] = 'error',
  error: unknown = new Error('the bank is closed'),
): Outcome {
  return outcomeOfPolicy(policy, cause, error, true);
}
