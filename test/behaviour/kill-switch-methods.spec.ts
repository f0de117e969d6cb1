import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  fixed,
  type KillSwitchOptions,
  type QueueType,
  Subscribe,
  type SubscribeOptions,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

class BankDown extends Error {
  override readonly name = 'BankDown';
}

const KILL_SWITCH: KillSwitchOptions = { failures: 0.5, minimum: 4, pause: '150ms', max: '300ms' };
const QUEUE_TYPES: readonly QueueType[] = ['classic', 'quorum'];

describe.each(QUEUE_TYPES)('a kill switch of a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('is that of all methods which share the queue', async () => {
    const queue = unique('shared');
    const bank = { isDown: true };
    const calls: string[] = [];
    const call = (method: string, payload: unknown): void => {
      calls.push(`${method} ${payload}`);
      if (bank.isDown) throw new BankDown('closed');
    };
    const shared: AcknowledgedOptions = { queue, queueType, prefetch: 1, onError: 'retry' };
    @Injectable()
    class Orders {
      @Subscribe({ ...shared, when: { type: 'Paid' }, killSwitch: KILL_SWITCH })
      paid(payload: unknown): void {
        call('paid', payload);
      }

      @Subscribe({ ...shared, when: { type: 'Cancelled' }, onUnmatched: 'skip' })
      cancelled(payload: unknown): void {
        call('cancelled', payload);
      }
    }
    const { registry, log, settled } = await startApp({ providers: [Orders] });
    // What no method takes says nothing about what the others depend on.
    for (let id = 0; id < 4; id += 1) await broker.send(queue, id, { type: 'Other' });
    await settled(4);
    expect(registry.get(Orders, 'paid').state).toBe('consuming');
    await broker.send(queue, 1, { type: 'Cancelled' });
    await broker.send(queue, 2, { type: 'Paid' });
    await until(() => registry.get(Orders, 'paid').cause === 'tripped');
    for (const method of ['paid', 'cancelled'] as const) {
      expect(registry.get(Orders, method)).toMatchObject({ state: 'paused', cause: 'tripped' });
    }
    // A failed probe of either method trips it again.
    await until(() => log.matching(/the last attempt failed\. Paused for 300ms/).length > 0);
    bank.isDown = false;
    const before = calls.length;
    await until(() => registry.get(Orders, 'cancelled').state === 'consuming');
    await until(() => calls.length === before + 2);
    expect(calls.slice(before).sort()).toEqual(['cancelled 1', 'paid 2']);
    expect(log.matching(/\[kill-switch-closed\]/, ['log'])).toHaveLength(1);
  });

  it('counts each message of a batch, and probes with a batch of one', async () => {
    const [queue, dead] = [unique('batch'), unique('dead')];
    const bank = { isDown: true };
    const batches: { readonly payloads: readonly number[]; readonly attempts: number[] }[] = [];
    const options: AcknowledgedOptions & { batch: NonNullable<SubscribeOptions['batch']> } = {
      queue,
      queueType,
      retry: { attempts: 2, backoff: fixed(50) },
      deadLetter: dead,
      onError: 'retryAfter',
      batch: { size: 6, wait: 50 },
      killSwitch: KILL_SWITCH,
    };
    @Injectable()
    class Readings {
      @Subscribe(options)
      store(payloads: readonly number[], deliveries: readonly Delivery[]): void {
        batches.push({ payloads, attempts: deliveries.map(({ attempt }) => attempt) });
        if (bank.isDown) throw new BankDown('closed');
      }
    }
    const { registry, settlements, log } = await startApp({ providers: [Readings] });
    await registry.pause(Readings, 'store');
    for (let id = 1; id <= 12; id += 1) await broker.send(queue, id);
    await broker.waitForReady(queue, 12);
    await registry.resume(Readings, 'store');
    await until(() => log.matching(/the last attempt failed\. Paused for 300ms/).length > 1);
    // The first four trip it; the others of their batch are requeued without an attempt.
    expect(batches[0]?.payloads).toHaveLength(6);
    expect(log.matching(/4 of 4 attempts failed/)).toHaveLength(1);
    expect(batches.slice(1).every(({ payloads }) => payloads.length === 1)).toBe(true);
    const counted = settlements.filter(({ status }) => status === 'sent');
    expect(counted).toHaveLength(4);
    bank.isDown = false;
    await until(() => settlements.filter(({ outcome }) => outcome.kind === 'ack').length === 12, {
      timeoutMs: 15_000,
    });
    await until(() => registry.get(Readings, 'store').state === 'consuming');
    expect(await broker.ready(dead)).toBe(0);
    expect(batches.flatMap(({ attempts }) => attempts).every((one) => one <= 2)).toBe(true);
  }, 30_000);

  it('of an ordered subscription keeps the order, and costs no attempt', async () => {
    const queue = unique('order');
    const bank = { isDown: true };
    const runs: string[] = [];
    const done: string[] = [];
    const Ledger = handlerOf(
      {
        queue,
        queueType,
        prefetch: 10,
        singleActiveConsumer: true,
        retry: { attempts: 5, backoff: fixed(10) },
        onError: 'retryAfter',
        order: { by: ({ headers }) => headers['key'] as string },
        killSwitch: KILL_SWITCH,
      },
      (payload: string, { attempt }) => {
        runs.push(`${payload}.${attempt}`);
        if (bank.isDown) throw new BankDown('closed');
        done.push(payload);
      },
    );
    const { registry, log } = await startApp({ providers: [Ledger] });
    await registry.pause(Ledger, 'handle');
    for (const payload of ['a1', 'a2', 'a3', 'b1', 'b2']) {
      await broker.send(queue, payload, { headers: { key: payload.slice(0, 1) } });
    }
    await broker.waitForReady(queue, 5);
    await registry.resume(Ledger, 'handle');
    await until(() => log.matching(/the last attempt failed/).length === 5);
    expect(registry.get(Ledger, 'handle')).toMatchObject({ state: 'paused', cause: 'tripped' });
    // Those that tripped it have used an attempt each; the probes take the first message, and none of it.
    expect(runs.slice(0, 4)).toEqual(['a1.1', 'b1.1', 'a1.2', 'b1.2']);
    expect(new Set(runs.slice(4))).toEqual(new Set(['a1.1']));
    bank.isDown = false;
    await until(() => done.length === 5);
    await until(() => registry.get(Ledger, 'handle').state === 'consuming');
    expect(done.filter((one) => one.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
    expect(done.filter((one) => one.startsWith('b'))).toEqual(['b1', 'b2']);
  }, 30_000);
});
