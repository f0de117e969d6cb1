import { Injectable } from '@nestjs/common';
import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ack, type Settlement, SettlementEvents, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe('SubscriptionRegistry', async () => {
  const broker = await openBroker();

  it('lists every subscription with its state', async () => {
    const [first, second] = [unique('list.a'), unique('list.b')];
    @Injectable()
    class Handler {
      @Subscribe({ queue: first })
      one(): void {}

      @Subscribe({ queue: second, noAck: true })
      two(): void {}
    }
    const before = Date.now();
    const { registry } = await startApp({ providers: [Handler] });
    const list = registry.list();
    expect(list.map(({ subscription }) => subscription.handler)).toEqual([
      'Handler.one',
      'Handler.two',
    ]);
    for (const status of list) {
      expect(status).toMatchObject({ state: 'consuming', inFlight: 0, abandoned: 0 });
      expect(status.lastError).toBeUndefined();
      expect(status.since.getTime()).toBeGreaterThanOrEqual(before);
      expect(status.since.getTime()).toBeLessThanOrEqual(Date.now());
    }
    expect(registry.get(Handler, 'two')).toEqual(list[1]);
    expect(() => registry.get(Handler, 'three' as never)).toThrow(/Handler\.three.*found none/);
  });

  it('describes every subscription for a version of RabbitMQ', async () => {
    const queue = unique('described');
    const Handler = handlerOf(
      { queue, queueType: 'quorum', deadLetter: `${queue}.dead` },
      () => {},
    );
    const { registry } = await startApp({ providers: [Handler] });
    const [consumer] = registry.describe().consumers;
    expect(consumer).toMatchObject({
      queue,
      queueType: 'quorum',
      consumes: true,
      virtualHost: '/',
    });
    expect(consumer?.queues.map(({ name }) => name)).toEqual([queue, `${queue}.dead`]);
    expect(consumer?.queues[0]?.arguments['x-delivery-limit']).toBe(-1);
    expect(consumer?.subscriptions[0]?.handler).toBe('Handler.handle');
    const [older] = registry.describe({ rabbitmq: '3.13' }).consumers;
    expect(older?.queues[0]?.arguments).not.toHaveProperty('x-delivery-limit');
    expect(() => registry.describe({ rabbitmq: 'x' })).toThrow(/expected a version/);
  });

  it('pauses one subscription until nothing is in flight, and resumes it', async () => {
    const queue = unique('pause');
    const [started, end] = [new Gate(), new Gate()];
    const seen: unknown[] = [];
    const Handler = handlerOf({ queue, prefetch: 1 }, async (payload) => {
      started.open();
      await end.promise;
      seen.push(payload);
    });
    const { registry, settled } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await started.promise;
    expect(registry.get(Handler, 'handle').inFlight).toBe(1);
    let isPaused = false;
    const paused = registry.pause(Handler, 'handle').then(() => {
      isPaused = true;
    });
    await until(async () => (await broker.consumers(queue)) === 0);
    await broker.send(queue, 2);
    expect(isPaused).toBe(false);
    expect(registry.get(Handler, 'handle')).toMatchObject({ state: 'paused', inFlight: 1 });
    end.open();
    await paused;
    expect(seen).toEqual([1]);
    expect(registry.get(Handler, 'handle').inFlight).toBe(0);
    await broker.waitForReady(queue, 1);
    await registry.pause(Handler, 'handle');
    await registry.resume(Handler, 'handle');
    await settled(2);
    expect(seen).toEqual([1, 2]);
    await until(() => registry.get(Handler, 'handle').state === 'consuming');
  });

  it('does not pause others', async () => {
    const [first, second] = [unique('pause.a'), unique('pause.b')];
    let runs = 0;
    const count = () => {
      runs += 1;
    };
    const [Paused, Other] = [
      handlerOf({ queue: first }, count),
      handlerOf({ queue: second }, count),
    ];
    const { registry } = await startApp({
      providers: [Paused, { provide: 'other', useClass: Other }],
    });
    await registry.pause(Paused, 'handle');
    await broker.send(first, {});
    await broker.send(second, {});
    await until(() => runs === 1);
    expect(await broker.ready(first)).toBe(1);
    await expect(registry.pause(Paused, 'other' as never)).rejects.toThrow(/found none/);
  });

  it('reports stopped after the application has closed, and resume() has no effect', async () => {
    const queue = unique('stopped');
    const Handler = handlerOf({ queue }, () => undefined);
    const app = await startApp({ providers: [Handler] });
    await app.registry.pause(Handler, 'handle');
    await app.close();
    expect(app.registry.get(Handler, 'handle').state).toBe('stopped');
    await app.registry.resume(Handler, 'handle');
    expect(app.registry.get(Handler, 'handle').state).toBe('stopped');
  });
});

describe('SettlementEvents', async () => {
  const broker = await openBroker();

  async function observed(subscribe: (events: SettlementEvents) => void) {
    const queue = unique('events');
    const Handler = handlerOf({ queue }, (payload) => {
      if (payload === 'drop') throw new Error('failed');
    });
    const app = await startApp({ providers: [Handler] });
    subscribe(app.app.get(SettlementEvents));
    // One after the other: acknowledgements of one turn are written later than a rejection.
    await broker.send(queue, 'first', { messageId: 'm1' });
    await app.settled(1);
    await broker.send(queue, 'drop');
    await app.settled(2);
    await broker.send(queue, 'last');
    await app.settled(3);
    await broker.waitForReady(queue, 0);
    return app;
  }

  it('emits each settlement once: the decision, the attempt, the error, the time', async () => {
    const events: Settlement[] = [];
    const app = await observed((stream) => stream.subscribe((event) => events.push(event)));
    expect(events).toEqual(app.settlements);
    expect(events.map(({ decision, status }) => [decision.kind, status])).toEqual([
      ['ack', 'sent'],
      ['reject', 'sent'],
      ['ack', 'sent'],
    ]);
    const [first, second] = events;
    expect(first).toMatchObject({ attempt: 1, outcome: { kind: 'ack' } });
    expect(first?.delivery.messageId).toBe('m1');
    expect(first?.subscription).toBe(app.registry.list()[0]?.subscription);
    expect(first?.durationMs).toBeGreaterThanOrEqual(0);
    expect(first).not.toHaveProperty('error');
    expect(second?.error).toHaveProperty('message', 'failed');
  });

  it('completes when the application has closed', async () => {
    let completed = false;
    const app = await observed((events) =>
      events.subscribe({
        complete: () => {
          completed = true;
        },
      }),
    );
    expect(completed).toBe(false);
    await app.close();
    expect(completed).toBe(true);
  });

  it.each<[what: string, subscribe: (events: SettlementEvents) => void]>([
    [
      'a subscriber',
      (events) =>
        events.subscribe(() => {
          throw new Error('bad subscriber');
        }),
    ],
    [
      'an operator',
      (events) =>
        events
          .pipe(
            map((): never => {
              throw new Error('bad operator');
            }),
          )
          .subscribe(),
    ],
    [
      'an error handler',
      (events) =>
        events
          .pipe(
            map((): never => {
              throw new Error('bad operator');
            }),
          )
          .subscribe({
            error: () => {
              throw new Error('bad error handler');
            },
          }),
    ],
  ])('survives %s that throws', async (_what, subscribe) => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on('uncaughtException', note).on('unhandledRejection', note);
    try {
      const events: Settlement[] = [];
      const app = await observed((stream) => {
        subscribe(stream);
        stream.subscribe((event) => events.push(event));
      });
      expect(events).toHaveLength(3);
      expect(
        app.log.matching(/a subscriber of SettlementEvents threw/, ['error']).length,
      ).toBeGreaterThan(0);
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(unhandled).toEqual([]);
    } finally {
      process.off('uncaughtException', note).off('unhandledRejection', note);
    }
  });

  it('emits before the callbacks of andAfter(), whose errors are logged', async () => {
    const queue = unique('after');
    const steps: string[] = [];
    const Handler = handlerOf({ queue }, () =>
      ack()
        .andAfter(() => {
          steps.push('first');
          throw new Error('after');
        })
        .andAfter(({ status, decision }) => steps.push(`${status} ${decision.kind}`)),
    );
    const app = await startApp({ providers: [Handler] });
    app.app.get(SettlementEvents).subscribe(() => steps.push('event'));
    await broker.send(queue, {});
    await until(() => steps.length === 3);
    expect(steps).toEqual(['event', 'first', 'sent ack']);
    expect(app.log.matching(/a callback of andAfter\(\) failed/, ['error'])).toHaveLength(1);
  });
});
