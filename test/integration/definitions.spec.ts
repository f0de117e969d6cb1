import { expect, it } from 'vitest';
import { fixed, retryAfter } from '../../lib';
import { definitionsOf } from '../../lib/description/definitions';
import { startApp } from '../support/app';
import { Broker, management, unique } from '../support/broker';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

it.each(['classic', 'quorum'] as const)(
  'the definitions of an application with a %s queue are imported, and are all that it needs',
  async (queueType) => {
    const [queue, exchange] = [unique('definitions'), unique('definitions.exchange')];
    const options: AcknowledgedOptions = {
      queue,
      queueType,
      exchange,
      routingKey: 'order.#',
      queueOptions: { messageTtl: 60_000, arguments: { 'x-max-length': 100 } },
      retry: { attempts: 2, backoff: fixed(100) },
      deadLetter: `${queue}.dead`,
    };
    const rabbit = { exchanges: [{ name: exchange, type: 'topic' }] };
    // Described on a connection that consumes nothing, so nothing is declared before the import.
    const described = await startApp({
      providers: [handlerOf(options, () => undefined)],
      rabbit: { ...rabbit, exchanges: [], registerHandlers: false },
    });
    const version = (await management.version()).split('.').slice(0, 2).join('.');
    const description = described.registry.describe({ rabbitmq: version });
    const expected = description.consumers.flatMap(({ queues }) => queues.map(({ name }) => name));
    expect(expected).toHaveLength(3);
    const definitions = {
      ...definitionsOf(description),
      exchanges: [
        {
          name: exchange,
          vhost: '/',
          type: 'topic',
          durable: true,
          auto_delete: false,
          internal: false,
          arguments: {},
        },
      ],
    };
    const broker = await Broker.connect();
    try {
      await management.importDefinitions(definitions);
      const names = (await management.queues()).map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(expected));

      // With declare: false the application declares nothing; with it, its declarations have to be equal.
      for (const declare of [false, true]) {
        const Handler = handlerOf({ ...options, declare }, () => {
          throw retryAfter();
        });
        const app = await startApp({ providers: [Handler], rabbit });
        await broker.publish(exchange, 'order.paid', { declare });
        const dead = await broker.take(`${queue}.dead`);
        expect(JSON.parse(dead.content.toString())).toEqual({ declare });
        expect(dead.properties.headers?.['x-settle-attempts-made']).toBe(2);
        await app.close();
      }
      await broker.channel((channel) => channel.deleteExchange(exchange));
    } finally {
      await broker.close();
    }
  },
);
