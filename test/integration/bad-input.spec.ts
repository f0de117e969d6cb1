import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Delivery, fixed, type Settlement, Subscribe, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { ACTS, type Act } from '../support/bad-input/acts';
import {
  expectDeadLetter,
  expectHarmlessLines,
  leftOutOf,
  linesOf,
} from '../support/bad-input/checks';
import { rawContent } from '../support/bad-input/wire';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';
import { sendContents } from '../support/raw-bytes';

const ATTEMPTS = 3;

/** The number of messages of each test: 40, or as many as `BAD_INPUT_MESSAGES` says. */
const MESSAGES = Number(process.env['BAD_INPUT_MESSAGES'] ?? 40);

/** What they are: the seed that `BAD_INPUT_SEED` gives, or a new one; it is in the names of the tests. */
const SEED = Number(process.env['BAD_INPUT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const input = fc.record({ content: rawContent(), act: fc.constantFrom(...ACTS) });

/** How the messages are consumed. */
const subscriptions: [how: string, options: Partial<AcknowledgedOptions>][] = [
  ['from a classic queue', { queueType: 'classic' }],
  ['from a quorum queue', { queueType: 'quorum' }],
  ['and dead-lettered by RabbitMQ', { queueType: 'classic' }],
  ['and dead-lettered by RabbitMQ from a quorum queue', { queueType: 'quorum' }],
  ['in batches', { queueType: 'classic', batch: { size: 8, wait: 20 } }],
  [
    'in order',
    {
      queueType: 'quorum',
      order: { by: keyOf, hold: '10s', whenStuck: 'deadLetter', instances: 1 },
    },
  ],
  ['with limits', { queueType: 'classic', timeout: 200, concurrency: 8, prefetch: 20 }],
];

// Some keys are no keys, and some cannot be read.
function keyOf({ messageId, headers }: Delivery): string {
  if (messageId === undefined) throw new Error('no key');
  return messageId.length % 2 === 0 ? messageId : (headers['x-death'] as string);
}

// What is thrown beside others in a batch is a result like any other.
function resultOf(act: Act | undefined): unknown {
  try {
    return act?.();
  } catch (error) {
    return error;
  }
}

const idOf = ({ message }: Delivery): string => String(message.properties.correlationId);
const idOfSettlement = ({ delivery }: Settlement): string => idOf(delivery);

/** Whether a settlement is the last one of its message. */
const isFinal = ({ status, decision: { kind } }: Settlement): boolean =>
  status === 'sent' && kind !== 'republish' && kind !== 'requeue';

function handlerOf(
  options: SubscribeOptions,
  handle: (deliveries: readonly Delivery[]) => unknown,
) {
  class Handler {
    @Subscribe(options)
    handle(...parameters: unknown[]): void {
      const [, batch, , single] = parameters;
      return handle((options.batch ? batch : [single]) as readonly Delivery[]) as never;
    }
  }
  return Handler;
}

describe(`messages of all kinds (BAD_INPUT_SEED=${SEED})`, async () => {
  const broker = await openBroker();

  it.each(subscriptions)(
    'that are consumed %s each end once, within their attempts',
    {
      timeout: 60_000 + MESSAGES * 100,
    },
    async (how, options) => {
      const queue = unique('bad-input');
      const dead = `${queue}.dead`;
      const by = how.includes('by RabbitMQ') ? 'broker' : 'client';
      const inputs = fc.sample(input, { numRuns: MESSAGES, seed: SEED });
      const attempts = new Map<string, number[]>();
      const ran = (delivery: Delivery): Act | undefined => {
        const id = idOf(delivery);
        attempts.set(id, [...(attempts.get(id) ?? []), delivery.attempt]);
        return inputs[Number(id)]?.act;
      };
      const Handler = handlerOf(
        {
          queue,
          retry: { attempts: ATTEMPTS, backoff: fixed(20) },
          deadLetter: { queue: dead, by },
          onPanic: 'drop',
          decompress: { max: '1MiB' },
          ...options,
        } as SubscribeOptions,
        (deliveries) => {
          const acts = deliveries.map(ran);
          return acts.length === 1 ? acts[0]?.() : acts.map(resultOf);
        },
      );
      const { settlements, log, close } = await startApp({ providers: [Handler] });
      await sendContents(
        queue,
        inputs.map(({ content }, index) => content(String(index))),
      );
      const finals = (): Settlement[] => settlements.filter(isFinal);
      await until(() => finals().length >= MESSAGES, { timeoutMs: 30_000 + MESSAGES * 50 });
      // What is still unacknowledged would return to the queue.
      await close();
      await broker.waitForReady(queue, 0);
      const ids = inputs.map((_input, index) => String(index));
      expect(finals().map(idOfSettlement).sort()).toEqual(ids.sort());
      for (const made of attempts.values()) expect(made).toEqual([1, 2, 3].slice(0, made.length));

      const ends = by === 'client' ? 'deadLetter' : 'reject';
      const letters = finals().filter(({ decision }) => decision.kind === ends);
      const expected = new Set(letters.map(idOfSettlement));
      await broker.waitForReady(dead, letters.length);
      for (const letter of await broker.drain(dead)) {
        const id = String(letter.properties.correlationId);
        expect(expected.delete(id)).toBe(true);
        const own = settlements.filter((settlement) => idOfSettlement(settlement) === id);
        const [first] = own;
        if (first === undefined) continue;
        expect(letter.content.equals(first.delivery.message.content)).toBe(true);
        if (by === 'client') expectDeadLetter(letter, first, own.flatMap(leftOutOf));
      }

      expectHarmlessLines(log);
      expect(linesOf(log, 'dead-lettered')).toBe(letters.length);
      const reduced = settlements.filter((settlement) => leftOutOf(settlement).length > 0);
      expect(linesOf(log, 'headers-dropped')).toBe(reduced.length);
      if (options.order !== undefined) return;
      const isRetry = ({ decision: { kind } }: Settlement): boolean =>
        kind === 'republish' || kind === 'requeue';
      expect(linesOf(log, 'retrying')).toBe(settlements.filter(isRetry).length);
    },
  );
});
