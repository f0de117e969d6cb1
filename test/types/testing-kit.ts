/** Compiled, never run: what the types of the testing kit refuse. */
import { type Outcome, Subscribe } from '../../lib';
import type { SettleTest, TestSettlement } from '../../lib/testing';

class Billing {
  readonly rate = 1;

  @Subscribe({ queue: 'billing' })
  charge(_order: unknown): Outcome | void {}
}

export async function calls(test: SettleTest): Promise<void> {
  const settlement: TestSettlement = await test.deliver(Billing, 'charge', { id: 1 });
  const all: readonly TestSettlement[] = test.settlements(Billing, 'charge');
  test.loseChannel(Billing, 'charge', 'billing');
  // @ts-expect-error there is no such method
  await test.deliver(Billing, 'chargee', {});
  // @ts-expect-error it is no method
  await test.deliver(Billing, 'rate', {});
  // @ts-expect-error there is no such method
  test.settlements(Billing, 'refund');
  // @ts-expect-error there is no such method
  test.loseChannel(Billing, '');
  // @ts-expect-error the class itself, not one of its instances
  await test.deliver(new Billing(), 'charge', {});
  // @ts-expect-error no duration
  await test.advance('5 minutes');
  await test.advance('5m');
  await test.advance(5);
  // @ts-expect-error no outcome
  expectEqual(settlement.outcome, 'reject');
  // @ts-expect-error no decision
  expectEqual(settlement.decision, 'nack');
  // @ts-expect-error values of a settlement are not to be written
  settlement.attempt = 2;
  const delay: number | undefined = all[0]?.delay;
  expectEqual(delay, 5);
}

function expectEqual<T>(_one: T, _other: NoInfer<T>): void {}
