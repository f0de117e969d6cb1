import { expect, it } from 'vitest';
import { ChannelLostError, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { describeOn } from '../support/versions';

const LIMIT = 1_000;

/** The server accepts the limit as an argument of a consumer or of a queue. */
const places: [string, Pick<SubscribeOptions, 'queueOptions'>][] = [
  [
    'the consumer',
    { queueOptions: { consumerOptions: { arguments: { 'x-consumer-timeout': LIMIT } } } },
  ],
  ['the queue', { queueOptions: { arguments: { 'x-consumer-timeout': LIMIT } } }],
];

describeOn({ from: '4.3', because: 'earlier ones close the channel' })(
  'an acknowledgement beyond the consumer timeout of',
  async () => {
    const broker = await openBroker();

    it.each(places)(
      '%s: is explained in one line, aborts the handler, and consuming resumes',
      async (_place, limit) => {
        const queue = unique('overdue');
        const reasons: unknown[] = [];
        const attempts: [string, number][] = [];
        const Handler = handlerOf(
          { queue, queueType: 'quorum', prefetch: 3, ...limit },
          (payload: string, { attempt, redelivered, signal }) => {
            attempts.push([payload, attempt]);
            if (payload !== 'slow' || redelivered) return undefined;
            return new Promise<void>((resolve) => {
              signal.addEventListener('abort', () => {
                reasons.push(signal.reason);
                resolve();
              });
            });
          },
        );
        const { log, settlements, registry } = await startApp({ providers: [Handler] });
        await broker.send(queue, 'slow', { messageId: 'a' });
        await broker.send(queue, 'quick');
        await until(() => attempts.length === 3, { timeoutMs: 20_000 });
        await broker.send(queue, 'after');
        await until(() => attempts.length === 4);
        await waitForEmpty(queue);
        expect(attempts).toEqual([
          ['slow', 1],
          ['quick', 1],
          // The server does not count this as an attempt.
          ['slow', 1],
          ['after', 1],
        ]);
        expect(reasons).toEqual([expect.any(ChannelLostError)]);
        const lines = log.matching(/\[channel-closed\]/, ['error']);
        expect(lines).toHaveLength(1);
        expect(lines[0]).toMatch(
          /^Handler\.handle \[channel-closed\] queue .*channel closed \(Error: message "a" was not acknowledged within RabbitMQ's consumer timeout \(1s; delivered \d\.?\d*s ago\)\. Set 'timeout' below that limit\)\..*Reconnecting/,
        );
        expect(settlements.filter(({ status }) => status === 'abandoned')).toHaveLength(1);
        expect(registry.get(Handler, 'handle').state).toBe('consuming');
      },
    );

    it('the queue, repeatedly: the message becomes a poison message although no attempt is counted', async () => {
      const queue = unique('again');
      const attempts: number[] = [];
      const Handler = handlerOf(
        {
          queue,
          queueType: 'quorum',
          retry: { attempts: 2, maxDeliveries: 3 },
          deadLetter: `${queue}.dead`,
          ...places[1]?.[1],
        },
        (_payload, { attempt, signal }) => {
          attempts.push(attempt);
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        },
      );
      const { log, settlements } = await startApp({ providers: [Handler] });
      await broker.send(queue, 'never', { messageId: 'n' });
      const { properties } = await broker.take(`${queue}.dead`, 25_000);
      expect(attempts).toEqual([1, 1, 1]);
      expect(properties.headers).toMatchObject({ 'x-settle-reason': 'attempts' });
      expect(
        log.matching(/\[poison-message\] message "n" .*: delivered 4 times \(limit 3\)/, ['error']),
      ).toHaveLength(1);
      await until(() => settlements.at(-1)?.status === 'sent');
      await waitForEmpty(queue);
    });

    it('the queue, for several deliveries at once: the connection stays open', async () => {
      const queue = unique('all-overdue');
      const other = unique('other');
      let started = 0;
      const Slow = handlerOf(
        { queue, queueType: 'quorum', prefetch: 5, ...places[1]?.[1] },
        (_payload, { redelivered, signal }) => {
          started += 1;
          if (redelivered) return undefined;
          return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        },
      );
      const Other = handlerOf({ queue: other }, () => undefined);
      const { log, registry } = await startApp({ providers: [Slow, Other] });
      for (let id = 1; id <= 3; id += 1) {
        await broker.send(queue, id);
        await until(() => started === id);
      }
      await until(() => started === 6, { timeoutMs: 20_000 });
      await waitForEmpty(queue);
      expect(log.matching(/\[channel-closed\]/)).toHaveLength(1);
      const { since, state } = registry.get(Other, 'handle');
      expect(state).toBe('consuming');
      expect(since.getTime()).toBeLessThanOrEqual(registry.get(Slow, 'handle').since.getTime());
    });

    it('a classic queue: is refused, since classic queues have no consumer timeout', async () => {
      const Handler = handlerOf({ queue: unique('classic'), ...places[0]?.[1] }, () => undefined);
      await expect(startApp({ providers: [Handler] })).rejects.toThrow(
        /invalid arg 'x-consumer-timeout' for queue/,
      );
    });

    it('is not blamed when the queue was deleted', async () => {
      const queue = unique('deleted');
      let started = 0;
      const Handler = handlerOf({ queue, queueType: 'quorum' }, (_payload, { signal }) => {
        started += 1;
        return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      });
      const { log } = await startApp({ providers: [Handler] });
      await broker.send(queue, 1);
      await until(() => started === 1);
      await broker.delete(queue);
      await until(() => log.matching(/\[channel-closed\]/).length === 1);
      expect(log.matching(/the queue was deleted or its node went down/)).toHaveLength(1);
      expect(log.matching(/consumer timeout/)).toEqual([]);
    });
  },
);
