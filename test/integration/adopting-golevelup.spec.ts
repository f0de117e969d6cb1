import { describe, expect, it, onTestFinished } from 'vitest';
import { openBroker, unique } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { Releases, stop } from '../support/releases';
import { SteadyPublisher } from '../support/steady-publisher';
import { itOn } from '../support/versions';

// The steps are those of docs/migration-golevelup.md.
describe.each(['classic', 'quorum'] as const)(
  'a running @RabbitSubscribe on a %s queue becomes @Subscribe',
  async (queueType) => {
    const broker = await openBroker();
    const fixtures = useCompiledFixtures();

    async function setUp() {
      const exchange = unique('orders');
      const queue = unique('billing');
      const releases = new Releases(fixtures.pathOf('release'), exchange);
      const bound = { exchange, routingKey: 'order.paid', queue };
      const byGolevelup = {
        ...bound,
        // As most have it: nothing said for a classic queue.
        ...(queueType === 'quorum' && {
          queueOptions: { arguments: { 'x-queue-type': 'quorum' } },
        }),
      };
      const word = {
        ...bound,
        queueType,
        deadLetter: `${queue}.dead`,
        onError: 'retry',
        onPanic: 'retry',
      } as const;
      const settling = {
        ...bound,
        queueType,
        retry: { attempts: 5 },
        deadLetter: `${queue}.dead`,
        onError: 'retryAfter',
      } as const;
      const first = await releases.start({ rabbitSubscribe: byGolevelup });
      const publisher = new SteadyPublisher(broker, exchange, 'order.paid');
      onTestFinished(async () => void (await publisher.stop()));
      await publisher.goOn(100);
      return { queue, releases, byGolevelup, word, settling, first, publisher };
    }

    it('no message is lost or comes twice, while old and new run beside each other', async () => {
      const { queue, releases, word, settling, first, publisher } = await setUp();
      const second = await releases.start({ subscribe: [word] });
      await publisher.goOn(50);
      await stop(first);
      await broker.send(queue, Buffer.from('{'), { messageId: 'invalid-payload' });
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.messageId).toBe('invalid-payload');
      await publisher.goOn(50);
      const third = await releases.start({ subscribe: [settling], backoff: 160 });
      await publisher.goOn(50);
      await stop(second);
      await publisher.goOn(50);
      const twice = await releases.allDone(await publisher.stop());
      expect(twice).toEqual([]);
      expect(new Set(releases.done.map(({ from }) => from))).toEqual(new Set(['golevelup', queue]));
      await stop(third);
      expect(await broker.ready(queue)).toBe(0);
      expect(await broker.ready(`${queue}.dead`)).toBe(0);
    });

    it('the way back loses nothing either: what waits comes back to @RabbitSubscribe', async () => {
      const { queue, releases, byGolevelup, settling, first, publisher } = await setUp();
      const second = await releases.start({ subscribe: [settling], backoff: 2_000 });
      await stop(first);
      await publisher.goOn(100);
      await stop(second);
      const back = await releases.start({ rabbitSubscribe: byGolevelup });
      const before = back.told('done').length;
      await publisher.goOn(20);
      const twice = await releases.allDone(await publisher.stop());
      expect(twice).toEqual([]);
      expect(back.told('done').length).toBeGreaterThan(before);
      const waited = back.told('done').filter(({ id }) => Number(id) % 10 === 0);
      expect(waited.length).toBeGreaterThan(0);
      expect(await broker.ready(queue)).toBe(0);
    });
  },
);

describe('what golevelup has put back again and again', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  /** A message that was put back three times, as golevelup does it, and then waits in its queue. */
  async function putBack(queueType: 'classic' | 'quorum') {
    const exchange = unique('orders');
    const queue = unique('put-back');
    await broker.exchange(exchange, 'topic');
    await broker.declare(queue, { arguments: { 'x-queue-type': queueType } });
    await broker.send(queue, 1);
    for (let time = 1; time <= 3; time += 1) {
      await broker.channel(async (channel) => {
        await new Promise<void>((resolve) => {
          void channel.consume(queue, (message) => {
            if (message !== null) channel.nack(message, false, true);
            resolve();
          });
        });
      });
    }
    const releases = new Releases(fixtures.pathOf('release'), exchange);
    const options = { queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` };
    await releases.start({ subscribe: [options] });
    return { queue, releases };
  }

  it('is at its first attempt on a classic queue', async () => {
    const { releases } = await putBack('classic');
    await releases.allDone([1]);
  });

  itOn({ before: '4.3', because: 'later ones do not count a nack' })(
    'is above the cap on a quorum queue, and goes to the dead-letter queue',
    async () => {
      const { queue, releases } = await putBack('quorum');
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.headers?.['x-settle-reason']).toBe('attempts');
      expect(releases.done).toEqual([]);
    },
  );
});
