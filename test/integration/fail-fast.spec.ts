import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, type Outcome, Panic, retry, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { openProxy } from '../support/proxied';

interface Job {
  readonly name: string;
  readonly customer?: { readonly address: { readonly city: string } };
}

describe('failFast', async () => {
  const broker = await openBroker();

  it('lets running handlers finish, starts no others, and leaves its own message in the queue', async () => {
    const queue = unique('fail-fast');
    const started: string[] = [];
    const finish = new Gate();
    const calls: { messageId: string | undefined; settled: number }[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue, prefetch: 5, deadLetter: `${queue}.dead` })
      async handle(job: Required<Job>): Promise<void> {
        started.push(job.name);
        if (job.name === 'bad') job.customer.address.city.trim();
        await finish.promise;
      }
    }
    const app = await startApp({
      providers: [Handler],
      settle: {
        onFailFast: ({ delivery: { messageId } }) => {
          calls.push({ messageId, settled: app.settlements.length });
        },
      },
    });
    for (const name of ['1', '2', '3', '4']) await broker.send(queue, { name });
    await until(() => started.length === 4);
    await broker.send(queue, { name: 'bad' }, { messageId: 'm-bad' });
    await until(() => app.log.matching(/m-bad/, ['error']).length > 0);
    for (const name of ['6', '7', '8']) await broker.send(queue, { name });
    expect(calls).toEqual([]);
    finish.open();
    await until(() => calls.length > 0);
    await app.close();

    expect(started).toEqual(['1', '2', '3', '4', 'bad']);
    const sent = app.settlements.filter(({ status }) => status === 'sent');
    expect(sent.map(({ decision }) => decision.kind)).toEqual(Array(4).fill('ack'));
    expect(calls).toEqual([{ messageId: 'm-bad', settled: app.settlements.length }]);
    expect(app.registry.list().map(({ state }) => state)).toEqual(['stopped']);
    await broker.waitForReady(queue, 4);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
    const left = [await broker.take(queue), await broker.take(queue)];
    expect(left[0]?.properties.messageId).toBe('m-bad');
    expect(left[0]?.fields.redelivered).toBe(true);
    const lines = app.log.lines.filter(({ level }) => level === 'error');
    expect(lines.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^Handler\.handle \[fail-fast\] message "m-bad" .*TypeError/),
    ]);
    expect(String(lines[0]?.rest[0])).toContain('fail-fast.spec');
  });

  it('stops every subscription, closes its own channel last, and counts only the first time', async () => {
    const [first, second, other] = [unique('first'), unique('second'), unique('other')];
    const proxy = await openProxy();
    const fail = new Gate();
    const finish = new Gate();
    const started: string[] = [];

    @Injectable()
    class Handler {
      @Subscribe({ queue: first })
      async first(): Promise<void> {
        started.push('first');
        await fail.promise;
        throw new Panic('the first');
      }

      @Subscribe({ queue: second })
      async second(): Promise<void> {
        started.push('second');
        await fail.promise;
        throw new Panic('the second');
      }

      @Subscribe({ queue: other })
      async other(): Promise<void> {
        started.push('other');
        await finish.promise;
      }
    }
    const app = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (const queue of [first, second, other]) await broker.send(queue, 1);
    await until(() => started.length === 3);
    fail.open();
    await app.settled(2);
    // Its message is not redelivered while this process is still working.
    expect(await broker.ready(first)).toBe(0);
    expect(app.failed).toEqual([]);
    finish.open();
    await until(() => app.failed.length > 0);
    await app.close();

    expect(app.failed.map(({ error }) => String(error))).toEqual(['Panic: the first']);
    expect(app.settlements.map(({ status }) => status)).toEqual(['none', 'released', 'sent']);
    expect(await broker.ready(other)).toBe(0);
    for (const queue of [first, second]) await broker.waitForReady(queue, 1);
    const channelOf = (queue: string): number | undefined =>
      proxy.frames.find(
        ({ method, details }) => method === 'basic.consume' && details.queue === queue,
      )?.channel;
    const closes = proxy.frames
      .filter(({ direction, method }) => direction === 'client' && method === 'channel.close')
      .map(({ channel }) => channel);
    const own = [first, second, other].map(channelOf);
    expect(closes.filter((channel) => own.includes(channel)).at(-1)).toBe(channelOf(first));
  });

  it('failFastOnce applies at attempt 1 only: later the message is dropped with the reason panic', async () => {
    const queue = unique('once');
    const attempts: number[] = [];

    @Injectable()
    class Handler {
      @Subscribe({
        queue,
        retry: { attempts: 3 },
        deadLetter: `${queue}.dead`,
        onPanic: 'failFastOnce',
      })
      handle(_payload: unknown, _message: unknown, _headers: unknown, delivery: Delivery): Outcome {
        attempts.push(delivery.attempt);
        if (delivery.attempt === 1) return retry();
        throw new Panic('a bug');
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    const dead = await broker.take(`${queue}.dead`);
    expect(dead.properties.headers?.['x-settle-reason']).toBe('panic');
    expect(attempts).toEqual([1, 2]);
    expect(app.failed).toEqual([]);
    expect(app.registry.list().map(({ state }) => state)).toEqual(['consuming']);
  });

  it('applies to a noAck subscription too, and logs that the message is lost', async () => {
    const queue = unique('no-ack');

    @Injectable()
    class Handler {
      @Subscribe({ queue, noAck: true })
      handle(): void {
        throw new Panic('a bug');
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, 1, { messageId: 'm-gone' });
    await until(() => app.failed.length > 0);
    expect(app.registry.list().map(({ state }) => state)).toEqual(['stopped']);
    expect(app.log.matching(/./, ['error'])).toEqual([
      expect.stringMatching(/\[fail-fast\] message "m-gone".*RabbitMQ already removed the message/),
    ]);
    expect(await broker.ready(queue)).toBe(0);
  });
});
