import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fixed, type Settlement } from '../../lib';
import { startApp } from '../support/app';
import { ACTS } from '../support/bad-input/acts';
import {
  expectDeadLetter,
  expectHarmlessLines,
  leftOutOf,
  linesOf,
} from '../support/bad-input/checks';
import { rawContent } from '../support/bad-input/wire';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { sendContents } from '../support/raw-bytes';

const ATTEMPTS = 3;

/** The number of messages of each queue: 80, or as many as `BAD_INPUT_MESSAGES` says. */
const MESSAGES = Number(process.env['BAD_INPUT_MESSAGES'] ?? 80);

/** What they are: the seed that `BAD_INPUT_SEED` gives, or a new one; it is in the names of the tests. */
const seed = Number(process.env['BAD_INPUT_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const input = fc.record({ content: rawContent(), act: fc.constantFrom(...ACTS) });

const idOf = ({ delivery }: Settlement): string =>
  String(delivery.message.properties.correlationId);

/** Whether a settlement is the last one of its message. */
const isFinal = ({ status, decision: { kind } }: Settlement): boolean =>
  status === 'sent' && kind !== 'republish' && kind !== 'requeue';

describe.each(['classic', 'quorum'] as const)(
  `messages of all kinds on a %s queue (BAD_INPUT_SEED=${seed})`,
  async (queueType) => {
    const broker = await openBroker();

    it('each end once, within their attempts', { timeout: 60_000 + MESSAGES * 100 }, async () => {
      const queue = unique('bad-input');
      const dead = `${queue}.dead`;
      const inputs = fc.sample(input, { numRuns: MESSAGES, seed });
      const attempts = new Map<string, number[]>();
      const Handler = handlerOf(
        {
          queue,
          queueType,
          retry: { attempts: ATTEMPTS, backoff: fixed(20) },
          deadLetter: dead,
          onPanic: 'drop',
          decompress: { max: '1MiB' },
        },
        (_payload, { attempt, message: { properties } }) => {
          const id = String(properties.correlationId);
          attempts.set(id, [...(attempts.get(id) ?? []), attempt]);
          return inputs[Number(id)]?.act();
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
      expect(finals().map(idOf).sort()).toEqual(ids.sort());
      for (const made of attempts.values()) expect(made).toEqual([1, 2, 3].slice(0, made.length));

      const letters = finals().filter(({ decision }) => decision.kind === 'deadLetter');
      const expected = new Set(letters.map(idOf));
      await broker.waitForReady(dead, letters.length);
      for (const letter of await broker.drain(dead)) {
        const id = String(letter.properties.correlationId);
        expect(expected.delete(id)).toBe(true);
        const own = settlements.filter((settlement) => idOf(settlement) === id);
        const [first] = own;
        if (first !== undefined) expectDeadLetter(letter, first, own.flatMap(leftOutOf));
      }

      expectHarmlessLines(log);
      const isRetry = ({ decision: { kind } }: Settlement): boolean =>
        kind === 'republish' || kind === 'requeue';
      expect(linesOf(log, 'dead-lettered')).toBe(letters.length);
      expect(linesOf(log, 'retrying')).toBe(settlements.filter(isRetry).length);
      const reduced = settlements.filter((settlement) => leftOutOf(settlement).length > 0);
      expect(linesOf(log, 'headers-dropped')).toBe(reduced.length);
    });
  },
);
