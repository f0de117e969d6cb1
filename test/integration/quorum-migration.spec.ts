import { describe, expect, it, onTestFinished } from 'vitest';
import { management, openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';
import { useCompiledFixtures } from '../support/process/compiled';
import { Releases, stop } from '../support/releases';
import { SteadyPublisher } from '../support/steady-publisher';

// The steps are those of docs/quorum-migration.md.
// Each test starts several processes.
describe('migrating a running classic queue to a quorum queue', { timeout: 90_000 }, async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  /** Starts the first release and publishes messages all the time. */
  async function setUp() {
    const exchange = unique('orders');
    const [classic, quorum] = [unique('billing'), unique('billing.quorum')];
    const settings = { retry: { attempts: 3 }, deadLetter: `${classic}.dead` } as const;
    const releases = new Releases(fixtures.pathOf('release'), exchange);
    const bound = { exchange, routingKey: 'order.paid' };
    const onClassic = { queue: classic, ...settings };
    const onQuorum = { queue: quorum, queueType: 'quorum', ...settings } as const;
    const deploy = (subscribe: object[], paused?: string) =>
      releases.start({ subscribe, backoff: 160, ...(paused && { paused }) });
    const first = await deploy([{ ...onClassic, ...bound }]);
    const publisher = new SteadyPublisher(broker, exchange, 'order.paid');
    onTestFinished(async () => void (await publisher.stop()));
    await publisher.goOn(100);

    /** Adds the new binding, then removes the old one; returns what was published in between. */
    const moveBinding = async (old = classic, next = quorum) => {
      const from = publisher.started;
      await broker.bind(next, exchange, 'order.paid');
      await publisher.goOn(10);
      await broker.channel((channel) => channel.unbindQueue(old, exchange, 'order.paid'));
      return { from, to: publisher.started };
    };
    return {
      classic,
      quorum,
      onClassic,
      onQuorum,
      bound,
      releases,
      deploy,
      first,
      publisher,
      moveBinding,
    };
  }

  /** A queue and its waiting queues. */
  async function withWaiting(queue: string) {
    const isOf = (name: string) =>
      name === queue ||
      [`${queue}.wait.`, `${queue}.waitq.`].some((start) => name.startsWith(start));
    return (await management.queues()).filter(({ name }) => isOf(name));
  }

  async function emptied(queue: string): Promise<void> {
    const isEmpty = async () =>
      (await withWaiting(queue)).every(
        (one) => one.messages_ready + one.messages_unacknowledged === 0,
      );
    await until(isEmpty, { what: `queue ${queue} is empty`, timeoutMs: 20_000 });
  }

  it('loses no message; messages published while both bindings exist are delivered twice', async () => {
    const {
      classic,
      quorum,
      onClassic,
      onQuorum,
      bound,
      releases,
      deploy,
      first,
      publisher,
      moveBinding,
    } = await setUp();
    const both = await deploy([onClassic, onQuorum]);
    await publisher.goOn(50);
    await stop(first);
    await publisher.goOn(50);
    const { from, to } = await moveBinding();
    await publisher.goOn(50);
    await emptied(classic);
    const last = await deploy([{ ...onQuorum, ...bound }]);
    await publisher.goOn(50);
    await stop(both);
    const old = (await withWaiting(classic)).map(({ name }) => name);
    expect(old.sort()).toEqual([classic, `${classic}.wait.160`]);
    for (const name of old) {
      await broker.channel((channel) =>
        channel.deleteQueue(name, { ifUnused: true, ifEmpty: true }),
      );
    }
    await publisher.goOn(50);
    const published = await publisher.stop();
    const twice = await releases.allDone(published);
    expect(twice.length).toBeGreaterThan(0);
    expect(twice.filter((number) => number < from || number > to)).toEqual([]);
    await stop(last);
    expect(await broker.ready(quorum)).toBe(0);
    expect(await broker.ready(`${classic}.dead`)).toBe(0);
    expect(await broker.ready(classic)).toBeUndefined();
  });

  it('keeps the order if the new subscription is paused until the old queue is empty', async () => {
    const {
      classic,
      quorum,
      onClassic,
      onQuorum,
      releases,
      deploy,
      first,
      publisher,
      moveBinding,
    } = await setUp();
    const both = await deploy([onClassic, onQuorum], quorum);
    await stop(first);
    await moveBinding();
    await emptied(classic);
    await publisher.goOn(50);
    both.signal('SIGUSR2');
    await publisher.goOn(50);
    await releases.allDone(await publisher.stop());
    const { done } = releases;
    const queues = done.map(({ from }) => from);
    expect(queues.lastIndexOf(classic)).toBeLessThan(queues.indexOf(quorum));
    const numbers = done.filter(({ from }) => from === quorum).map(({ number }) => number);
    const atFirst = numbers.filter((number) => number % 10 > 0);
    expect(atFirst).toEqual([...atFirst].sort((one, other) => one - other));
  });

  it('loses no message on a rollback', async () => {
    const {
      classic,
      quorum,
      onClassic,
      onQuorum,
      bound,
      releases,
      deploy,
      first,
      publisher,
      moveBinding,
    } = await setUp();
    const both = await deploy([onClassic, onQuorum]);
    await stop(first);
    const there = await moveBinding();
    await publisher.goOn(50);
    const back = await moveBinding(quorum, classic);
    await publisher.goOn(50);
    await emptied(quorum);
    await deploy([{ ...onClassic, ...bound }]);
    await stop(both);
    const twice = await releases.allDone(await publisher.stop());
    const isBetween = (number: number) =>
      [there, back].some(({ from, to }) => number >= from && number <= to);
    expect(twice.filter((number) => !isBetween(number))).toEqual([]);
    expect(await broker.ready(quorum)).toBe(0);
  });
});
