import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Settlement } from 'nestjs-settle';
import { type Column, Screen } from './screen';
import { ShopSettlements } from './shop-settlements';

/** Shows each settlement of the application as one line. */
@Injectable()
export class SettlementPrinter implements OnModuleInit {
  constructor(
    private readonly settlements: ShopSettlements,
    private readonly screen: Screen,
  ) {}

  onModuleInit(): void {
    this.settlements.subscribe((settlement) => this.#print(settlement));
  }

  header(): void {
    const names = ['handler', 'queue', 'message', 'attempt', 'outcome', 'result'];
    this.screen.row(['   time', 7], ...columnsOf(names));
  }

  #print(settlement: Settlement): void {
    const { subscription, delivery, attempt } = settlement;
    const { handler, queueType, retry } = subscription;
    const texts = [
      handler,
      queueType,
      delivery.messageId ?? '',
      retry === undefined ? `${attempt}` : `${attempt} of ${retry.attempts}`,
      resultText(settlement),
      decisionText(settlement),
    ];
    this.screen.timedRow(...columnsOf(texts));
  }
}

function columnsOf(texts: readonly string[]): Column[] {
  const widths = [14, 7, 8, 7, 18];
  return texts.map((text, index) => [text, widths[index] ?? 0]);
}

/** What the handler returned or threw. */
function resultText(settlement: Settlement): string {
  const { outcome, status } = settlement;
  if ('error' in settlement) return `threw ${(settlement.error as Error).name}`;
  if (status === 'released') return '(not started)';
  return outcome.delay === undefined ? outcome.kind : `${outcome.kind} ${outcome.delay}`;
}

/** What happened to the message. */
function decisionText({ decision, subscription, status }: Settlement): string {
  if (status !== 'sent') return status;
  switch (decision.kind) {
    case 'ack':
      return 'acknowledged';
    case 'reject':
      return 'rejected';
    case 'requeue':
      return 'requeued';
    case 'republish':
      return decision.delayMs > 0 ? `retried in ${decision.delayMs} ms` : 'retried at once';
    case 'deadLetter':
      return `moved to ${subscription.deadLetter?.queue}: ${decision.reason}`;
    default:
      return decision.kind;
  }
}
