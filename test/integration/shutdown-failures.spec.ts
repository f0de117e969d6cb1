import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, drop, type Outcome, retry, Subscribe } from '../../lib';
import { startApp, type TestApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';

type Handling = (delivery: Delivery) => unknown;

describe.each(['classic', 'quorum'] as const)('during shutdown, %s queue', async (queueType) => {
  const broker = await openBroker();

  /** Delivers one message, starts the shutdown, and only then lets the handler end in a given way. */
  async function endWhileStopping(
    handling: Handling,
    options: { timeout?: number; abortGracePeriod?: number } = {},
  ): Promise<{ app: TestApp; queue: string }> {
    const queue = unique('failing');
    const stopping = new Gate();
    let started = false;

    @Injectable()
    class Handler {
      @Subscribe({
        queue,
        queueType,
        retry: { attempts: 3 },
        deadLetter: `${queue}.dead`,
        onError: 'retry',
        ...(options.timeout !== undefined && { timeout: options.timeout }),
      })
      async handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery) {
        started = true;
        await stopping.promise;
        return (await handling(delivery)) as Outcome;
      }
    }
    const app = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 10_000, abortGracePeriod: options.abortGracePeriod ?? 5_000 },
    });
    await broker.send(queue, { id: 1 }, { messageId: 'm1' });
    await until(() => started);
    const closed = app.close();
    stopping.open();
    await closed;
    return { app, queue };
  }

  it.each<[string, Handling, { timeout?: number; abortGracePeriod?: number }]>([
    ['an error', () => Promise.reject(new Error('database closed')), {}],
    ['a timeout', () => new Promise(() => undefined), { timeout: 400 }],
    ['an abort', ({ signal }) => sleep(60_000, undefined, { signal }), { abortGracePeriod: 9_900 }],
    [
      'a panic',
      () => {
        throw new TypeError('undefined is no function');
      },
      {},
    ],
  ])('%s requeues the message unprocessed', async (_name, handling, options) => {
    const { app, queue } = await endWhileStopping(handling, options);
    expect(app.settlements.map(({ status }) => status)).toEqual(['released']);
    await broker.waitForReady(queue, 1);
    const message = await broker.take(queue);
    expect(message.fields.redelivered).toBe(true);
    expect(Object.keys(message.properties.headers ?? {})).not.toContain('x-settle-attempt');
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
    expect(app.failed).toEqual([]);
    expect(
      app.log.matching(/\[requeued\] message "m1".*the subscription is stopping/, ['log']),
    ).toHaveLength(1);
    expect(app.log.matching(/./, ['error', 'warn'])).toEqual([]);
  });

  it('an outcome that is returned or thrown is carried out as usual', async () => {
    const dropped = await endWhileStopping(() => drop('no use'));
    expect(dropped.app.settlements.map(({ status }) => status)).toEqual(['sent']);
    const dead = await broker.take(`${dropped.queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('drop');
    expect(await broker.ready(dropped.queue)).toBe(0);

    const retried = await endWhileStopping(() => {
      throw retry();
    });
    expect(retried.app.settlements.map(({ status }) => status)).toEqual(['sent']);
    await broker.waitForReady(retried.queue, 1);
    const again = await broker.take(retried.queue);
    const header = queueType === 'classic' ? 'x-settle-attempt' : 'x-delivery-count';
    expect(again.properties.headers?.[header]).toBe(queueType === 'classic' ? 2 : 1);
  });

  it('an invalid payload is settled as usual', async () => {
    const queue = unique('invalid-payload');
    const stopping = new Gate();
    let decoding = false;

    @Injectable()
    class Handler {
      @Subscribe({
        queue,
        queueType,
        deadLetter: `${queue}.dead`,
        deserializer: async () => {
          decoding = true;
          await stopping.promise;
          throw new SyntaxError('no JSON');
        },
      })
      handle(): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, Buffer.from('{'));
    await until(() => decoding);
    const closed = app.close();
    stopping.open();
    await closed;
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
    expect(await broker.ready(queue)).toBe(0);
  });
});
