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
    const names = ['handler', 'queue', 'message', 'attempt', 'outcome', 'what becomes of it'];
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
      wordOf(settlement),
      fateOf(settlement),
    ];
    this.screen.timedRow(...columnsOf(texts));
  }
}

function columnsOf(texts: readonly string[]): Column[] {
  const widths = [14, 7, 8, 7, 18];
  return texts.map((text, index) => [text, widths[index] ?? 0]);
}

/** What the handler said or threw. */
function wordOf(settlement: Settlement): string {
  const { outcome, settlement: result } = settlement;
  if ('error' in settlement) return `threw ${(settlement.error as Error).name}`;
  if (result === 'released') return '(not begun)';
  return outcome.delay === undefined ? outcome.kind : `${outcome.kind} ${outcome.delay}`;
}

function fateOf({ decision, subscription, settlement }: Settlement): string {
  if (settlement !== 'sent') return settlement;
  switch (decision.kind) {
    case 'ack':
      return 'acknowledged';
    case 'reject':
      return 'rejected';
    case 'requeue':
      return 'back to the queue';
    case 'republish':
      return decision.delayMs > 0 ? `again after ${decision.delayMs} ms` : 'again at once';
    case 'deadLetter':
      return `to ${subscription.deadLetter?.queue}: ${decision.reason}`;
    default:
      return decision.kind;
  }
}
