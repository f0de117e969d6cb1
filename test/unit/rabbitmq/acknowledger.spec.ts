import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Acknowledger, type Tagged } from '../../../lib/rabbitmq/acknowledger';
import { FakeClock } from '../../support/fake-clock';

interface Frame {
  readonly tag: number;
  readonly multiple: boolean;
}

interface Delivery extends Tagged<Delivery> {}

function tagged(tag: number): Delivery {
  return { tag, previous: undefined, next: undefined };
}

/** An acknowledger with the deliveries 1 to `count`. */
function anAcknowledger(count: number, write?: (frame: Frame) => void) {
  const frames: Frame[] = [];
  const results: [number, boolean][] = [];
  const clock = new FakeClock();
  const acknowledger = new Acknowledger<Delivery>(({ tag }, multiple) => {
    write?.({ tag, multiple });
    frames.push({ tag, multiple });
  }, clock);
  const deliveries = Array.from({ length: count }, (_, index) => tagged(index + 1));
  for (const delivery of deliveries) acknowledger.arrived(delivery);
  const acknowledge = (...tags: number[]): void => {
    for (const tag of tags) {
      acknowledger.acknowledge(deliveries[tag - 1]!, (written) => results.push([tag, written]));
    }
  };
  return { acknowledger, clock, deliveries, frames, results, acknowledge };
}

describe('acknowledgements of one turn', () => {
  it('form one frame if they are the oldest of the channel, in any order', async () => {
    const { acknowledge, clock, frames, results } = anAcknowledger(5);
    acknowledge(3, 1, 2);
    expect(frames).toEqual([]);
    expect(results).toEqual([]);
    await clock.endTurn();
    expect(frames).toEqual([{ tag: 3, multiple: true }]);
    expect(results).toEqual([
      [3, true],
      [1, true],
      [2, true],
    ]);
  });

  it('are sent singly behind an unsettled delivery', async () => {
    const { acknowledge, clock, frames } = anAcknowledger(5);
    acknowledge(1, 2, 4, 5);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 2, multiple: true },
      { tag: 4, multiple: false },
      { tag: 5, multiple: false },
    ]);
  });

  it('do not use multiple for a single delivery', async () => {
    const { acknowledge, clock, frames } = anAcknowledger(2);
    acknowledge(1);
    await clock.endTurn();
    acknowledge(2);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 1, multiple: false },
      { tag: 2, multiple: false },
    ]);
  });

  it('can span a delivery that was settled by its own frame', async () => {
    const { acknowledger, acknowledge, clock, deliveries, frames } = anAcknowledger(3);
    acknowledge(1);
    acknowledger.settled(deliveries[1]!);
    acknowledge(3);
    await clock.endTurn();
    expect(frames).toEqual([{ tag: 3, multiple: true }]);
  });

  it('never span an unsettled delivery', async () => {
    const { acknowledge, clock, frames } = anAcknowledger(4);
    acknowledge(2, 3, 4);
    await clock.endTurn();
    expect(frames.map(({ multiple }) => multiple)).toEqual([false, false, false]);
    expect(frames.map(({ tag }) => tag)).toEqual([2, 3, 4]);
  });

  it('are sent by flush, and not again at the end of the turn', async () => {
    const { acknowledger, acknowledge, clock, frames } = anAcknowledger(2);
    acknowledge(1, 2);
    acknowledger.flush();
    expect(frames).toEqual([{ tag: 2, multiple: true }]);
    await clock.endTurn();
    expect(frames).toHaveLength(1);
  });

  it('that are requested by a callback wait for the next turn', async () => {
    const { acknowledger, clock, deliveries, frames } = anAcknowledger(2);
    acknowledger.acknowledge(deliveries[0]!, () => {
      acknowledger.acknowledge(deliveries[1]!, () => undefined);
    });
    acknowledger.flush();
    expect(frames).toEqual([{ tag: 1, multiple: false }]);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 1, multiple: false },
      { tag: 2, multiple: false },
    ]);
  });

  it('are all reported as not written if the channel is closed', async () => {
    const { acknowledge, clock, results } = anAcknowledger(4, () => {
      throw new Error('Channel closed');
    });
    acknowledge(1, 2, 4);
    await clock.endTurn();
    expect(results).toEqual([
      [1, false],
      [2, false],
      [4, false],
    ]);
  });
});

type Step =
  | { readonly kind: 'arrive' | 'flush' | 'endTurn' }
  | { readonly kind: 'ack' | 'reject' | 'leave'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Step>({ kind: 'arrive' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'flush' }, { kind: 'endTurn' }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('ack', 'ack', 'ack', 'reject', 'leave'),
      which: fc.nat({ max: 40 }),
    }) as fc.Arbitrary<Step>,
  },
);

/** The broker's side of a channel: as RabbitMQ, it closes it for an unknown delivery tag. */
class ModelBroker {
  readonly settledBy = new Map<number, 'ack' | 'reject'>();
  readonly #unsettled = new Set<number>();
  #lastTag = 0;

  deliver(): number {
    this.#lastTag += 1;
    this.#unsettled.add(this.#lastTag);
    return this.#lastTag;
  }

  settle(tag: number, how: 'ack' | 'reject', multiple = false): void {
    if (!this.#unsettled.has(tag)) throw new Error(`406: unknown delivery tag ${tag}`);
    for (const one of [...this.#unsettled]) {
      if (one !== tag && !(multiple && one < tag)) continue;
      this.#unsettled.delete(one);
      this.settledBy.set(one, how);
    }
  }
}

describe('any sequence of deliveries, settlements and turns', () => {
  it('settles each decided delivery once, as decided, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const broker = new ModelBroker();
        const clock = new FakeClock();
        const refusals: unknown[] = [];
        const results = new Map<number, boolean[]>();
        const undecided: Delivery[] = [];
        const decided = new Map<number, 'ack' | 'reject'>();
        const acknowledger = new Acknowledger<Delivery>(({ tag }, multiple) => {
          const before = new Set(broker.settledBy.keys());
          try {
            broker.settle(tag, 'ack', multiple);
          } catch (error) {
            refusals.push(error);
            throw error;
          }
          const covered = [...broker.settledBy.keys()].filter((one) => !before.has(one));
          // When the frame is sent, not only at the end.
          expect(covered.filter((one) => decided.get(one) !== 'ack')).toEqual([]);
        }, clock);
        for (const one of steps) {
          if (one.kind === 'arrive') {
            const delivery = tagged(broker.deliver());
            acknowledger.arrived(delivery);
            undecided.push(delivery);
          } else if (one.kind === 'flush') acknowledger.flush();
          else if (one.kind === 'endTurn') await clock.endTurn();
          else if ('which' in one && undecided.length > 0) {
            const [delivery] = undecided.splice(one.which % undecided.length, 1);
            if (one.kind === 'leave') continue;
            decided.set(delivery!.tag, one.kind === 'ack' ? 'ack' : 'reject');
            if (one.kind === 'ack') {
              const { tag } = delivery!;
              acknowledger.acknowledge(delivery!, (written) =>
                results.set(tag, [...(results.get(tag) ?? []), written]),
              );
            } else {
              acknowledger.settled(delivery!);
              broker.settle(delivery!.tag, 'reject');
            }
          }
        }
        await clock.endTurn();
        expect(refusals).toEqual([]);
        expect(new Map([...broker.settledBy].sort())).toEqual(new Map([...decided].sort()));
        const acknowledged = [...decided].filter(([, how]) => how === 'ack').map(([tag]) => tag);
        expect(acknowledged.map((tag) => results.get(tag))).toEqual(acknowledged.map(() => [true]));
      }),
      { numRuns: 300 },
    );
  });
});
