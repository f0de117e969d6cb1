import type {
  BrokerDelivery,
  CopyResult,
  CopyTarget,
  Frame,
  Written,
} from '../../../lib/broker/port';
import type { Copy } from '../../../lib/delivery/copy';
import { DeliveryRecord } from '../../../lib/delivery/delivery';
import type { IncomingMessage } from '../../../lib/delivery/message';
import type { Outcome } from '../../../lib/outcome/outcome';
import { type FailurePolicy, outcomeOfPolicy } from '../../../lib/outcome/policy';
import type { Run } from '../../../lib/settlement/run';
import type { Settlement } from '../../../lib/settlement/settlement';
import { Settler, type SettlerSurroundings } from '../../../lib/settlement/settler';
import type { SubscribeOptions } from '../../../lib/subscription/options';
import { FakeClock } from '../../support/fake-clock';
import { aLog, aMessage, aSubscription, QUEUE, RecordingLogger } from '../fixtures';

/** What a delivery is told, in order. A copy waits until the test says what became of it. */
export class FakeSource implements BrokerDelivery {
  readonly queue = QUEUE;
  readonly acquired = 0;
  readonly copies: { readonly copy: Copy; readonly target: CopyTarget }[] = [];
  /** Whether the channel is still there. */
  isOpen = true;
  answerCopy: (result: CopyResult) => void = () => {};

  constructor(
    readonly message: IncomingMessage,
    readonly counts: boolean,
    private readonly steps: string[],
  ) {}

  settle(frame: Frame, written: Written): void {
    this.steps.push(frame);
    written(this.isOpen);
  }

  leave(): void {
    this.steps.push('leave');
  }

  copy(copy: Copy, target: CopyTarget): Promise<CopyResult> {
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

/** A settler whose surroundings note down what they are told, in one list with the frames. */
export function aSettler(given: Given = {}) {
  const { options = {}, message = aMessage({ properties: { messageId: 'm-1' } }) } = given;
  const steps: string[] = [];
  const settlements: Settlement[] = [];
  const clock = new FakeClock();
  const logger = new RecordingLogger();
  const subscription = aSubscription(options);
  const source = new FakeSource(message, given.counts ?? false, steps);
  const delivery = new DeliveryRecord(subscription, message, QUEUE, given.attempt ?? 1);
  const run: Run = { delivery, source, startedAt: clock.monotonic(), decided: false, over: false };
  const surroundings: SettlerSurroundings = {
    clock,
    log: aLog(logger, clock),
    stopping: () => given.isStopping ?? false,
    backOff: async () => {
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
      steps.push(`settled: ${settlement.settlement}`);
    },
    finished: () => steps.push('finished'),
  };
  const settler = new Settler(subscription, surroundings);
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
