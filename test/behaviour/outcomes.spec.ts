import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { ack, type Delivery, drop, type Outcome, retry, retryAfter, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';

describe.each(['classic', 'quorum'] as const)(
  'the outcomes of a handler, %s queue',
  async (queueType) => {
    const broker = await openBroker();

    it('retry() runs attempts 1 to N, then dead-letters with the reason attempts', async () => {
      const queue = unique('attempts');
      const seen: number[] = [];

      @Injectable()
      class Handler {
        @Subscribe({ queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` })
        handle(
          _payload: unknown,
          _message: unknown,
          _headers: unknown,
          delivery: Delivery,
        ): Outcome {
          seen.push(delivery.attempt);
          return retry();
        }
      }
      await startApp({ providers: [Handler] });
      await broker.send(queue, { id: 1 }, { messageId: 'm1' });
      const dead = await broker.take(`${queue}.dead`);
      expect(seen).toEqual([1, 2, 3]);
      expect(dead.properties.headers?.['x-settle-reason']).toBe('attempts');
    });

    it('ack(), drop() and retryAfter() are carried out', async () => {
      const queue = unique('outcomes');
      const started: [string, number, number][] = [];

      @Injectable()
      class Handler {
        @Subscribe({ queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` })
        async handle(
          payload: string,
          ...rest: [unknown, unknown, Delivery]
        ): Promise<Outcome | void> {
          started.push([payload, rest[2].attempt, Date.now()]);
          if (payload === 'drop') return drop('not wanted');
          if (payload === 'later' && rest[2].attempt === 1) return retryAfter(300);
          return payload === 'ack' ? ack() : undefined;
        }
      }
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'ack');
      await broker.send(queue, 'drop');
      await broker.send(queue, 'later');
      await app.settled(4);
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.properties.headers?.['x-settle-error-message']).toBe('not wanted');
      const [first, second] = started
        .filter(([payload]) => payload === 'later')
        .map(([, , at]) => at);
      expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(300);
      expect(await broker.ready(queue)).toBe(0);
    });
  },
);
