import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Delivery, drop, retry, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

const exchanges = {
  fanout: unique('x.fanout'),
  topic: unique('x.topic'),
  headers: unique('x.headers'),
  outer: unique('x.outer'),
  inner: unique('x.inner'),
};

interface Route {
  readonly publishTo: string;
  readonly bindTo: string;
  readonly routingKey: string;
  readonly bindArguments?: object;
}

const routes: [name: string, route: Route][] = [
  [
    'a fanout exchange',
    { publishTo: exchanges.fanout, bindTo: exchanges.fanout, routingKey: 'any' },
  ],
  [
    'a topic exchange',
    { publishTo: exchanges.topic, bindTo: exchanges.topic, routingKey: 'order.*' },
  ],
  [
    'a headers exchange',
    {
      publishTo: exchanges.headers,
      bindTo: exchanges.headers,
      routingKey: '',
      bindArguments: { 'x-match': 'all', kind: 'paid' },
    },
  ],
  [
    'an exchange bound to an exchange',
    { publishTo: exchanges.outer, bindTo: exchanges.inner, routingKey: '#' },
  ],
];

describe.each(['classic', 'quorum'] as const)(
  'another service on a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    beforeAll(async () => {
      await broker.exchange(exchanges.fanout, 'fanout');
      await broker.exchange(exchanges.topic, 'topic');
      await broker.exchange(exchanges.headers, 'headers');
      await broker.exchange(exchanges.outer, 'topic');
      await broker.exchange(exchanges.inner, 'topic');
      await broker.channel((channel) =>
        channel.bindExchange(exchanges.inner, exchanges.outer, 'order.#'),
      );
    });

    afterAll(async () => {
      await broker.channel(async (channel) => {
        for (const name of Object.values(exchanges)) await channel.deleteExchange(name);
      });
    });

    describe.each(routes)(
      'behind %s',
      (_name, { publishTo, bindTo, routingKey, bindArguments }) => {
        const options = (queue: string) => ({
          queue,
          queueType,
          exchange: bindTo,
          routingKey,
          retry: { attempts: 3 },
          deadLetter: `${queue}.dead`,
          ...(bindArguments && { queueOptions: { bindQueueArguments: bindArguments } }),
        });
        const publish = (): Promise<void> =>
          broker.publish(publishTo, 'order.paid', { id: 1 }, { headers: { kind: 'paid' } });

        it.each([
          ['retry()', () => retry()],
          ['retryAfter()', () => retryAfter(20)],
        ])(
          'does not receive a message republished for %s, whose exchange and routing key stay the original ones',
          async (_way, way) => {
            const queue = unique('failing');
            const other = unique('other');
            const seen: Pick<Delivery, 'attempt' | 'exchange' | 'routingKey' | 'queue'>[] = [];
            let calls = 0;
            const Failing = handlerOf(options(queue), (_payload, delivery) => {
              const { attempt, exchange, routingKey: key } = delivery;
              seen.push({ attempt, exchange, routingKey: key, queue: delivery.queue });
              return attempt < 3 ? way() : undefined;
            });
            const Other = handlerOf(options(other), () => {
              calls += 1;
            });
            const app = await startApp({ providers: [Failing, Other] });
            await publish();
            await app.settled(4);
            await until(async () => (await broker.ready(queue)) === 0);
            const address = { exchange: publishTo, routingKey: 'order.paid', queue };
            expect(seen).toEqual([1, 2, 3].map((attempt) => ({ attempt, ...address })));
            expect(calls).toBe(1);
            expect(app.settlements).toHaveLength(4);
            expect(await broker.ready(other)).toBe(0);
          },
        );

        it('does not receive a dead letter, which names the original exchange and routing key', async () => {
          const queue = unique('dropping');
          const other = unique('other');
          let calls = 0;
          const Dropping = handlerOf(options(queue), (_payload, { attempt }) =>
            attempt === 1 ? retryAfter(20) : drop(),
          );
          const Other = handlerOf(options(other), () => {
            calls += 1;
          });
          await startApp({ providers: [Dropping, Other] });
          await publish();
          const dead = await broker.take(`${queue}.dead`);
          expect(dead.properties.headers).toMatchObject({
            'x-settle-exchange': publishTo,
            'x-settle-routing-key': 'order.paid',
            'x-settle-queue': queue,
            kind: 'paid',
          });
          expect(dead.fields).toMatchObject({ exchange: '', routingKey: `${queue}.dead` });
          await until(() => calls === 1);
          expect(await broker.ready(`${other}.dead`)).toBe(0);
        });
      },
    );
  },
);
