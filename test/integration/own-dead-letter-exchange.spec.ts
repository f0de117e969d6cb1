import { describe, expect, it } from 'vitest';
import { drop, retry } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)(
  'deadLetter beside the dead-letter exchange of a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    async function setUp() {
      const queue = unique('own-route');
      const [exchange, moved, dead] = [`${queue}.dlx`, `${queue}.moved`, `${queue}.dead`];
      await broker.exchange(exchange, 'fanout', { autoDelete: true });
      await broker.declare(moved);
      await broker.bind(moved, exchange, '');
      const options = {
        queue,
        queueType,
        queueOptions: { deadLetterExchange: exchange },
        deadLetter: dead,
      };
      return { queue, exchange, moved, dead, options };
    }

    it('takes what this library gives up, with its reason, and the exchange gets none of it', async () => {
      const { queue, moved, dead, options } = await setUp();
      const Handler = handlerOf({ ...options, retry: { attempts: 2 } }, (payload) => {
        if (payload === 'drop') return drop('not wanted');
        if (payload === 'retry') return retry();
        throw new Error('declined');
      });
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, 'drop');
      await broker.send(queue, 'fail');
      await broker.send(queue, 'retry');
      await app.settled(4);
      await broker.waitForReady(dead, 3);
      const reasons = [];
      for (let n = 0; n < 3; n += 1) {
        reasons.push((await broker.take(dead)).properties.headers?.['x-settle-reason']);
      }
      expect(reasons.sort()).toEqual(['attempts', 'drop', 'error']);
      expect(await broker.ready(moved)).toBe(0);
    });

    it('leaves to the exchange what RabbitMQ moves, such as expired messages', async () => {
      const { queue, exchange, moved, dead, options } = await setUp();
      const Handler = handlerOf(options, () => undefined);
      const app = await startApp({ providers: [Handler] });
      await app.registry.pause(Handler, 'handle');
      await broker.send(queue, {}, { expiration: '50' });
      const { properties } = await broker.take(moved);
      expect(properties.headers?.['x-death']?.[0]).toMatchObject({ queue, reason: 'expired' });
      expect(await broker.ready(dead)).toBe(0);
      const [line] = app.log.matching(/\[startup\]/);
      expect(line).toContain(
        `dead letters to "${dead}", those of RabbitMQ to exchange "${exchange}"`,
      );
    });

    it('starts on a queue that was declared with its exchange before, as golevelup does', async () => {
      const { queue, exchange, dead, options } = await setUp();
      const declared = { 'x-queue-type': queueType, 'x-dead-letter-exchange': exchange };
      await broker.declare(queue, { arguments: declared });
      const app = await startApp({ providers: [handlerOf(options, () => drop())] });
      await broker.send(queue, {});
      await app.settled(1);
      await broker.waitForReady(dead, 1);
    });

    it('says of a rejected message where RabbitMQ moves it, without deadLetter', async () => {
      const { queue, exchange, moved, options } = await setUp();
      const { deadLetter: _deadLetter, ...rest } = options;
      const Handler = handlerOf(rest, () => Promise.reject(new Error('declined')));
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {});
      await broker.waitForReady(moved, 1);
      expect(app.log.matching(/\[rejected\]/)[0]).toContain(
        `rejected; RabbitMQ moves it to exchange "${exchange}"`,
      );
      expect(app.log.matching(/\[startup\]/)[0]).toContain(
        `no dead-letter queue, rejected messages to exchange "${exchange}"`,
      );
    });
  },
);
