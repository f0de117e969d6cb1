import { describe, expect, it } from 'vitest';
import { drop, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';

describe.each(['classic', 'quorum'] as const)(
  "deadLetter.by: 'broker' on a %s queue",
  async (queueType) => {
    const broker = await openBroker();
    const options = (queue: string, attempts: number) =>
      ({
        queue,
        queueType,
        retry: { attempts },
        deadLetter: { queue: `${queue}.dead`, by: 'broker' },
      }) as const;

    it('declares the dead-letter exchange, and the delivery limit if there is one', async () => {
      const queue = unique('declared');
      await startApp({ providers: [handlerOf(options(queue, 4), () => undefined)] });
      const listed = (await management.queues()).find(({ name }) => name === queue);
      expect(listed?.arguments).toEqual({
        'x-queue-type': queueType,
        'x-dead-letter-exchange': '',
        'x-dead-letter-routing-key': `${queue}.dead`,
        ...(queueType === 'quorum' && { 'x-delivery-limit': 3 }),
      });
    });

    it('is not the default: a queue is declared without a dead-letter exchange', async () => {
      const queue = unique('plain');
      const plain = { ...options(queue, 4), deadLetter: `${queue}.dead` };
      await startApp({ providers: [handlerOf(plain, () => undefined)] });
      const listed = (await management.queues()).find(({ name }) => name === queue);
      expect(listed?.arguments).toMatchObject({ 'x-queue-type': queueType });
      expect(listed?.arguments).not.toHaveProperty('x-dead-letter-exchange');
    });

    it.each([1, 2, 3])(
      'makes %i attempts, then the broker dead-letters the message',
      async (cap) => {
        const queue = unique('moved');
        const proxy = await openProxy();
        const seen: number[] = [];
        const Handler = handlerOf(options(queue, cap), (_payload, { attempt }) => {
          seen.push(attempt);
          return retry();
        });
        await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
        await broker.send(queue, { id: 1 }, { messageId: 'moved' });
        const { properties } = await broker.take(`${queue}.dead`);
        expect(seen).toEqual(Array.from({ length: cap }, (_, index) => index + 1));
        expect(properties.messageId).toBe('moved');
        expect(properties.headers?.['x-death']?.[0]).toMatchObject({ queue, reason: 'rejected' });
        expect(properties.headers).not.toHaveProperty('x-settle-reason');
        // Only a classic queue, which does not count, needs republished messages.
        const published = queueType === 'classic' ? cap - 1 : 0;
        expect(proxy.count('client', 'basic.publish')).toBe(published);
        expect(await broker.ready(queue)).toBe(0);
      },
    );

    it('dead-letters after drop() and after an error at once', async () => {
      const queue = unique('dropped');
      const Handler = handlerOf(options(queue, 3), (id: string) => {
        if (id === 'error') throw new Error('failed');
        return drop('not wanted');
      });
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'error');
      await broker.send(queue, 'drop');
      await broker.waitForReady(`${queue}.dead`, 2);
      expect(app.settlements.map(({ attempt }) => attempt)).toEqual([1, 1]);
    });

    it('republishes for retryAfter() and keeps counting', async () => {
      const queue = unique('later');
      const seen: number[] = [];
      const Handler = handlerOf(options(queue, 3), (_payload, { attempt }) => {
        seen.push(attempt);
        return retryAfter(20);
      });
      await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await broker.take(`${queue}.dead`);
      expect(seen).toEqual([1, 2, 3]);
    });

    it('is refused if the queue exists with another limit', async () => {
      const queue = unique('limit');
      const first = await startApp({ providers: [handlerOf(options(queue, 3), () => undefined)] });
      await first.close();
      const again = startApp({ providers: [handlerOf(options(queue, 4), () => undefined)] });
      if (queueType === 'quorum') await expect(again).rejects.toThrow(/x-delivery-limit/);
      else await again;
    });
  },
);

describe.each(['client', 'broker'] as const)(
  'dead-lettering by the %s after a consumer dies',
  async (by) => {
    const broker = await openBroker();

    it.each([1, 2, 3])('happens after %i attempts', async (cap) => {
      const queue = unique('killed');
      const proxy = await openProxy();
      const starts: [number, boolean][] = [];
      const Handler = handlerOf(
        {
          queue,
          queueType: 'quorum',
          retry: { attempts: cap },
          deadLetter: { queue: `${queue}.dead`, by },
        },
        async (_payload, { attempt, signal, redelivered }) => {
          starts.push([attempt, redelivered]);
          proxy.cutAll();
          await until(() => signal.aborted);
        },
      );
      const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
      await broker.send(queue, { id: 1 }, { messageId: 'killed' });
      const { properties } = await broker.take(`${queue}.dead`, 20_000);
      expect(starts).toEqual(Array.from({ length: cap }, (_, index) => [index + 1, index > 0]));
      expect(properties.messageId).toBe('killed');
      if (by === 'client') {
        expect(properties.headers).toMatchObject({
          'x-settle-reason': 'attempts',
          'x-settle-attempts-made': cap,
        });
      } else {
        const [death] = properties.headers?.['x-death'] ?? [];
        expect(death).toMatchObject({ queue, reason: 'delivery_limit' });
      }
      expect(await broker.ready(queue)).toBe(0);
      await until(() => app.registry.get(Handler, 'handle').abandoned === cap);
    });

    it('also happens if an administrator closes the connections', async () => {
      const queue = unique('closed');
      let starts = 0;
      const Handler = handlerOf(
        {
          queue,
          queueType: 'quorum',
          retry: { attempts: 2 },
          deadLetter: { queue: `${queue}.dead`, by },
        },
        async (_payload, { signal }) => {
          starts += 1;
          // The list may still show the consumer of a closed connection, or not yet the new one.
          await until(async () => {
            const listed = (await management.consumers()).find((each) => each.queue === queue);
            return (
              listed?.connection !== undefined && management.closeConnection(listed.connection)
            );
          });
          await until(() => signal.aborted);
        },
      );
      await startApp({ providers: [Handler] });
      await broker.send(queue, { id: 1 });
      await broker.take(`${queue}.dead`, 25_000);
      expect(starts).toBe(2);
    });
  },
);
