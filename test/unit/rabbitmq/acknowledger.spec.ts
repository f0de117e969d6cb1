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

/** An acker with deliveries 1 to `count` handed out. */
function anAcker(count: number, write?: (frame: Frame) => void) {
  const frames: Frame[] = [];
  const told: [number, boolean][] = [];
  const clock = new FakeClock();
  const acker = new Acknowledger<Delivery>(({ tag }, multiple) => {
    write?.({ tag, multiple });
    frames.push({ tag, multiple });
  }, clock);
  const deliveries = Array.from({ length: count }, (_, index) => tagged(index + 1));
  for (const delivery of deliveries) acker.arrived(delivery);
  const acknowledge = (...tags: number[]): void => {
    for (const tag of tags) {
      acker.acknowledge(deliveries[tag - 1]!, (written) => told.push([tag, written]));
    }
  };
  return { acker, clock, deliveries, frames, told, acknowledge };
}

describe('the acknowledgements of one turn', () => {
  it('are joined into one frame where they are the first of the channel, in whatever order', async () => {
    const { acknowledge, clock, frames, told } = anAcker(5);
    acknowledge(3, 1, 2);
    expect(frames).toEqual([]);
    expect(told).toEqual([]);
    await clock.endTurn();
    expect(frames).toEqual([{ tag: 3, multiple: true }]);
    expect(told).toEqual([
      [3, true],
      [1, true],
      [2, true],
    ]);
  });

  it('go singly behind a delivery that is not settled', async () => {
    const { acknowledge, clock, frames } = anAcker(5);
    acknowledge(1, 2, 4, 5);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 2, multiple: true },
      { tag: 4, multiple: false },
      { tag: 5, multiple: false },
    ]);
  });

  it('are one plain frame where there is one', async () => {
    const { acknowledge, clock, frames } = anAcker(2);
    acknowledge(1);
    await clock.endTurn();
    acknowledge(2);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 1, multiple: false },
      { tag: 2, multiple: false },
    ]);
  });

  it('cover a delivery in between that a frame of its own has settled', async () => {
    const { acker, acknowledge, clock, deliveries, frames } = anAcker(3);
    acknowledge(1);
    acker.settled(deliveries[1]!);
    acknowledge(3);
    await clock.endTurn();
    expect(frames).toEqual([{ tag: 3, multiple: true }]);
  });

  it('never cover a delivery that is left unsettled', async () => {
    const { acknowledge, clock, frames } = anAcker(4);
    acknowledge(2, 3, 4);
    await clock.endTurn();
    expect(frames.map(({ multiple }) => multiple)).toEqual([false, false, false]);
    expect(frames.map(({ tag }) => tag)).toEqual([2, 3, 4]);
  });

  it('are written at once by a flush, and not again at the end of the turn', async () => {
    const { acker, acknowledge, clock, frames } = anAcker(2);
    acknowledge(1, 2);
    acker.flush();
    expect(frames).toEqual([{ tag: 2, multiple: true }]);
    await clock.endTurn();
    expect(frames).toHaveLength(1);
  });

  it('that are asked for while others are being told wait for the next turn', async () => {
    const { acker, clock, deliveries, frames } = anAcker(2);
    acker.acknowledge(deliveries[0]!, () => {
      acker.acknowledge(deliveries[1]!, () => undefined);
    });
    acker.flush();
    expect(frames).toEqual([{ tag: 1, multiple: false }]);
    await clock.endTurn();
    expect(frames).toEqual([
      { tag: 1, multiple: false },
      { tag: 2, multiple: false },
    ]);
  });

  it('are all told that they were not written where the channel is gone', async () => {
    const { acknowledge, clock, told } = anAcker(4, () => {
      throw new Error('Channel closed');
    });
    acknowledge(1, 2, 4);
    await clock.endTurn();
    expect(told).toEqual([
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

/** A broker's side of one channel: closes it, as RabbitMQ does, for a tag that is not unsettled. */
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

describe('any interleaving of arrivals, decisions and turns', () => {
  it('settles what was decided once, as decided, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const broker = new ModelBroker();
        const clock = new FakeClock();
        const refusals: unknown[] = [];
        const told = new Map<number, boolean[]>();
        const undecided: Delivery[] = [];
        const decided = new Map<number, 'ack' | 'reject'>();
        const acker = new Acknowledger<Delivery>(({ tag }, multiple) => {
          const before = new Set(broker.settledBy.keys());
          try {
            broker.settle(tag, 'ack', multiple);
          } catch (error) {
            refusals.push(error);
            throw error;
          }
          const covered = [...broker.settledBy.keys()].filter((one) => !before.has(one));
          // At the moment of the frame, not only in the end.
          expect(covered.filter((one) => decided.get(one) !== 'ack')).toEqual([]);
        }, clock);
        for (const one of steps) {
          if (one.kind === 'arrive') {
            const delivery = tagged(broker.deliver());
            acker.arrived(delivery);
            undecided.push(delivery);
          } else if (one.kind === 'flush') acker.flush();
          else if (one.kind === 'endTurn') await clock.endTurn();
          else if ('which' in one && undecided.length > 0) {
            const [delivery] = undecided.splice(one.which % undecided.length, 1);
            if (one.kind === 'leave') continue;
            decided.set(delivery!.tag, one.kind === 'ack' ? 'ack' : 'reject');
            if (one.kind === 'ack') {
              const { tag } = delivery!;
              acker.acknowledge(delivery!, (written) =>
                told.set(tag, [...(told.get(tag) ?? []), written]),
              );
            } else {
              acker.settled(delivery!);
              broker.settle(delivery!.tag, 'reject');
            }
          }
        }
        await clock.endTurn();
        expect(refusals).toEqual([]);
        expect(new Map([...broker.settledBy].sort())).toEqual(new Map([...decided].sort()));
        const acknowledged = [...decided].filter(([, how]) => how === 'ack').map(([tag]) => tag);
        expect(acknowledged.map((tag) => told.get(tag))).toEqual(acknowledged.map(() => [true]));
      }),
      { numRuns: 300 },
    );
  });
});
