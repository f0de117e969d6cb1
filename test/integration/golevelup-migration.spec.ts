import { describe, expect, it, onTestFinished } from 'vitest';
import { openBroker, unique } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { Releases, stop } from '../support/releases';
import { SteadyPublisher } from '../support/steady-publisher';
import { itOn } from '../support/versions';

// The steps are those of docs/migration-golevelup.md.
describe.each(['classic', 'quorum'] as const)(
  'migrating a running @RabbitSubscribe on a %s queue to @Subscribe',
  // Each test starts several processes.
  { timeout: 90_000 },
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
        // As in most applications: no type is given for a classic queue.
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

    it('loses and duplicates no message while the old and the new release run side by side', async () => {
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

    it('loses nothing on a rollback: delayed retries return to @RabbitSubscribe', async () => {
      const { queue, releases, byGolevelup, settling, first, publisher } = await setUp();
      const second = await releases.start({ subscribe: [settling], backoff: 2_000 });
      await stop(first);
      await publisher.goOn(100);
      await stop(second);
      const back = await releases.start({ rabbitSubscribe: byGolevelup });
      const before = back.reported('done').length;
      await publisher.goOn(20);
      const twice = await releases.allDone(await publisher.stop());
      expect(twice).toEqual([]);
      expect(back.reported('done').length).toBeGreaterThan(before);
      const waited = back.reported('done').filter(({ id }) => Number(id) % 10 === 0);
      expect(waited.length).toBeGreaterThan(0);
      expect(await broker.ready(queue)).toBe(0);
    });
  },
);

describe('a message that golevelup has requeued repeatedly', async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  /** A message that was requeued three times, as golevelup does it, and is then ready in its queue. */
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

  it('is at attempt 1 on a classic queue', async () => {
    const { releases } = await putBack('classic');
    await releases.allDone([1]);
  });

  itOn({ before: '4.3', because: 'later ones do not count a nack' })(
    'exceeds the attempts on a quorum queue and is dead-lettered',
    async () => {
      const { queue, releases } = await putBack('quorum');
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.headers?.['x-settle-reason']).toBe('attempts');
      expect(releases.done).toEqual([]);
    },
  );
});
