import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  drop,
  fixed,
  type KillSwitchOptions,
  on,
  type QueueType,
  SubscriptionEvents,
  type SubscriptionStateChange,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

class UnknownCustomer extends Error {
  override readonly name = 'UnknownCustomer';
}

const KILL_SWITCH: KillSwitchOptions = { failures: 0.5, minimum: 5, pause: '150ms', max: '1s' };
const QUEUE_TYPES: readonly QueueType[] = ['classic', 'quorum'];

/** A subscription whose dependency can be down. */
async function start(options: AcknowledgedOptions, payloads: readonly unknown[] = []) {
  const broker = await openBroker();
  const queue = unique('kill-switch');
  const bank = { isDown: true, calls: 0, failures: 0, handled: new Set<unknown>() };
  const attempts: number[] = [];
  const Handler = handlerOf({ queue, ...options }, (payload: unknown, delivery: Delivery) => {
    bank.calls += 1;
    attempts.push(delivery.attempt);
    if (payload === 'drop') return drop('not for us');
    if (payload === 'unknown') throw new UnknownCustomer('no such customer');
    if (payload === 'bug') return (undefined as unknown as { readonly x: unknown }).x;
    if (bank.isDown) {
      bank.failures += 1;
      throw new BankDown('closed');
    }
    bank.handled.add(payload);
  });
  const changes: SubscriptionStateChange[] = [];
  const app = await startApp({ providers: [Handler] });
  app.app.get(SubscriptionEvents).subscribe((change) => changes.push(change));
  for (const payload of payloads) await broker.send(queue, payload);
  return {
    ...app,
    broker,
    queue,
    bank,
    attempts,
    changes,
    Handler,
    status: () => app.registry.get(Handler, 'handle'),
  };
}

describe.each(QUEUE_TYPES)('the kill switch of a %s queue', (queueType) => {
  it('keeps 200 messages while the dependency is down, and handles all of them once it is back', async () => {
    const dead = unique('dead');
    const { broker, bank, queue, status, settlements, log, changes } = await start(
      {
        queueType,
        prefetch: 4,
        retry: { attempts: 2, backoff: fixed('200ms') },
        deadLetter: dead,
        onError: 'retryAfter',
        killSwitch: { ...KILL_SWITCH, minimum: 10, pause: '1s' },
      },
      Array.from({ length: 200 }, (_value, index) => index),
    );
    await until(() => status().cause === 'tripped', { timeoutMs: 15_000 });
    await until(() => status().inFlight === 0);
    // All but those that are in flight as it trips.
    expect(bank.failures).toBeGreaterThanOrEqual(10);
    expect(bank.failures).toBeLessThanOrEqual(10 + 4);
    await until(async () => (await broker.consumers(queue)) === 0);
    expect(status()).toMatchObject({ state: 'paused', cause: 'tripped' });
    expect(
      log.matching(/\[kill-switch-tripped\].*10 of 10 attempts failed.*BankDown/),
    ).toHaveLength(1);
    bank.isDown = false;
    await until(() => bank.handled.size === 200, { timeoutMs: 15_000 });
    await until(() => status().state === 'consuming');
    const counted = settlements.filter(({ error, status: is }) => error && is === 'sent');
    expect(counted.length).toBeLessThanOrEqual(10);
    expect(await broker.ready(dead)).toBe(0);
    expect(log.matching(/\[kill-switch-closed\]/, ['log'])).toHaveLength(1);
    const steps = changes.filter(({ to }) => to !== 'reconnecting');
    expect(steps.map(({ to, cause }) => [to, cause])).toEqual([
      ['paused', 'tripped'],
      ['consuming', undefined],
    ]);
    expect(steps[0]?.error).toBeInstanceOf(BankDown);
  }, 60_000);

  it('tries one message after each pause, without an attempt', async () => {
    const { bank, attempts, log, status, settlements } = await start(
      {
        queueType,
        prefetch: 1,
        retry: { attempts: 7 },
        onError: 'retry',
        killSwitch: KILL_SWITCH,
      },
      ['one'],
    );
    await until(() => log.matching(/\[kill-switch-tripped\]/).length === 3, { timeoutMs: 10_000 });
    const [first, second, third] = log.matching(/\[kill-switch-tripped\]/);
    expect(`${first}`).toContain('Paused for 150ms');
    expect(`${second}`).toContain('the last attempt failed. Paused for 300ms');
    expect(`${third}`).toContain('Paused for 600ms');
    expect(attempts).toEqual([1, 2, 3, 4, 5, 6, 6]);
    await until(() => settlements.filter(({ status: is }) => is === 'released').length === 2);
    bank.isDown = false;
    await until(() => bank.handled.size === 1, { timeoutMs: 10_000 });
    await until(() => status().state === 'consuming');
    expect(attempts.at(-1)).toBe(6);
  }, 30_000);
});

describe('a kill switch', () => {
  const failing = ['a', 'b', 'c', 'd', 'e', 'f'];

  it('counts errors that `on` matches', async () => {
    const other = await start(
      { onError: 'drop', killSwitch: { ...KILL_SWITCH, on: UnknownCustomer } },
      failing,
    );
    await until(() => other.bank.calls === failing.length);
    await until(() => other.status().inFlight === 0);
    expect(other.status().state).toBe('consuming');
    const same = await start({ killSwitch: { ...KILL_SWITCH, on: [BankDown] } }, failing);
    await until(() => same.status().cause === 'tripped');
  });

  it('counts neither what a rule drops, nor outcomes of the handler, nor bugs and invalid payloads', async () => {
    const { bank, status, broker, queue } = await start({
      prefetch: 1,
      onError: [on(UnknownCustomer, 'drop'), 'drop'],
      onPanic: 'drop',
      killSwitch: KILL_SWITCH,
    });
    for (const payload of ['unknown', 'unknown', 'unknown', 'bug', 'drop', 'bug', 'drop']) {
      await broker.send(queue, payload);
      await broker.send(queue, Buffer.from('no JSON'));
    }
    await until(() => bank.calls === 7);
    await broker.waitForReady(queue, 0);
    expect(status().state).toBe('consuming');
    // A policy that no rule has chosen.
    for (const payload of failing) await broker.send(queue, payload);
    await until(() => status().cause === 'tripped');
  });

  it('is closed by resume(), and an operator’s pause wins', async () => {
    const { registry, Handler, bank, status, changes } = await start(
      { onError: 'retry', killSwitch: { ...KILL_SWITCH, pause: '200ms', max: '200ms' } },
      failing,
    );
    await until(() => status().cause === 'tripped');
    await registry.pause(Handler, 'handle');
    expect(status().cause).toBe('operator');
    const { calls } = bank;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(bank.calls).toBe(calls);
    bank.isDown = false;
    await registry.resume(Handler, 'handle');
    await until(() => bank.handled.size === failing.length);
    await until(() => status().state === 'consuming');
    expect(changes.map(({ to, cause }) => cause ?? to)).toEqual([
      'tripped',
      'operator',
      'reconnecting',
      'consuming',
    ]);
  });

  it('of the module applies to every subscription that does not switch it off', async () => {
    const broker = await openBroker();
    const [queue, other] = [unique('on'), unique('off')];
    const fail = () => {
      throw new BankDown('closed');
    };
    const [On, Off, NoAck] = [
      handlerOf({ queue }, fail),
      handlerOf({ queue: other, killSwitch: false }, fail),
      handlerOf({ queue: unique('no-ack'), noAck: true }, fail),
    ];
    const { registry } = await startApp({
      providers: [On, Off, NoAck],
      settle: { defaults: { killSwitch: KILL_SWITCH } },
    });
    for (const payload of failing) {
      await broker.send(queue, payload);
      await broker.send(other, payload);
    }
    await until(() => registry.get(On, 'handle').cause === 'tripped');
    await broker.waitForReady(other, 0);
    expect(registry.get(Off, 'handle').state).toBe('consuming');
    expect(registry.get(NoAck, 'handle').subscription.killSwitch).toBeUndefined();
  });

  it('probes with one message on a queue that needs its consumer', async () => {
    const { bank, status, log } = await start(
      {
        queueOptions: { autoDelete: true },
        prefetch: 3,
        onError: 'retry',
        killSwitch: KILL_SWITCH,
      },
      failing,
    );
    await until(() => status().cause === 'tripped');
    await until(() => status().inFlight === 0);
    const { calls } = bank;
    await until(() => log.matching(/\[kill-switch-tripped\]/).length === 2);
    expect(bank.calls).toBe(calls + 1);
    bank.isDown = false;
    await until(() => bank.handled.size === failing.length);
    await until(() => status().state === 'consuming');
  });

  it.each<[string, object]>([
    ['killSwitch.failures: expected a number above 0, at most 1; found 2', { failures: 2 }],
    ['killSwitch.minimum: expected a whole number', { minimum: 0 }],
    ['killSwitch.pause: expected a number of ms', { pause: 'soon' }],
    ['killSwitch.window: expected a number of ms', { window: 0 }],
    ['killSwitch.on: expected a class', { on: 'BankDown' }],
  ])('refuses %s', async (fault, killSwitch) => {
    const Handler = handlerOf({ queue: unique('refused'), killSwitch }, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(fault);
  });

  it('is refused together with noAck', async () => {
    const options = { queue: unique('refused'), noAck: true, killSwitch: {} };
    const Handler = handlerOf(options as never, () => undefined);
    await expect(startApp({ providers: [Handler] })).rejects.toThrow(
      /killSwitch: expected no such/,
    );
  });
});
