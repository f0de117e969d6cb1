import { describe, expect, it } from 'vitest';
import { drop, type SubscribeOptions } from '../../lib';
import { SettleOpenTelemetryModule } from '../../lib/opentelemetry';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type Body, handlerOf } from '../support/handlers';
import { type Point, RecordedMetrics } from '../support/telemetry';

describe('metrics', async () => {
  const broker = await openBroker();

  async function start(options: SubscribeOptions, body: Body) {
    const Handler = handlerOf(options, body);
    const metrics = new RecordedMetrics();
    const { provider: meterProvider } = metrics;
    const app = await startApp({
      providers: [Handler],
      settle: { shutdownTimeout: 300, abortGracePeriod: 0 },
      imports: [SettleOpenTelemetryModule.forRoot({ traces: false, meterProvider })],
    });
    return { ...app, Handler, metrics };
  }

  const isOn = ({ value }: Point): boolean => value === 1;

  it('counts messages by outcome, decision, status and reason', async () => {
    const [queue, dead] = [unique('counted'), unique('dead')];
    const common = {
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'settle.handler': 'Handler.handle',
    };
    const app = await start({ queue, deadLetter: dead }, (payload: unknown) => {
      if (payload === 'fail') throw new Error('a message that must not be a label');
      return payload === 'drop' ? drop('nor this') : undefined;
    });
    for (const body of ['well', 'well', 'fail', 'drop']) await broker.send(queue, body);
    await app.settled(4);
    const read = await app.metrics.read();
    const settlements = read.get('settle.settlements');
    expect(settlements).toHaveLength(3);
    const sent = { ...common, 'settle.status': 'sent' };
    const dropped = { ...sent, 'settle.outcome': 'drop', 'settle.decision': 'deadLetter' };
    expect(settlements).toEqual(
      expect.arrayContaining([
        { value: 2, attributes: { ...sent, 'settle.outcome': 'ack', 'settle.decision': 'ack' } },
        { value: 1, attributes: { ...dropped, 'settle.reason': 'error' } },
        { value: 1, attributes: { ...dropped, 'settle.reason': 'drop' } },
      ]),
    );
    const processed = { ...common, 'messaging.operation.name': 'process' };
    const failed = { ...processed, 'error.type': 'error' };
    const consumed = read.get('messaging.client.consumed.messages');
    expect(consumed).toHaveLength(2);
    expect(consumed).toEqual(
      expect.arrayContaining([
        { value: 3, attributes: processed },
        { value: 1, attributes: failed },
      ]),
    );
    const durations = read.get('messaging.process.duration');
    expect(durations?.map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([processed, failed]),
    );
    expect(durations?.[0]?.value).toMatchObject({ count: expect.any(Number) });
  });

  it('counts the messages that have ended by their attempts', async () => {
    const [queue, dead] = [unique('attempts'), unique('dead')];
    const app = await start(
      { queue, deadLetter: dead, retry: { attempts: 7 }, onError: 'retry' },
      (payload: number, { attempt }) => {
        if (attempt < payload) throw new Error('not yet');
      },
    );
    for (const attempts of [1, 1, 2, 7, 8]) await broker.send(queue, attempts);
    await app.settled(1 + 1 + 2 + 7 + 7);
    const ended = (await app.metrics.read()).get('settle.attempts');
    const common = {
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'settle.handler': 'Handler.handle',
    };
    const point = (value: number, made: string, decision = 'ack') => ({
      value,
      attributes: { ...common, 'settle.decision': decision, 'settle.attempts_made': made },
    });
    expect(ended).toHaveLength(4);
    expect(ended).toEqual(
      expect.arrayContaining([
        point(2, '1'),
        point(1, '2'),
        point(1, '6 to 10'),
        point(1, '6 to 10', 'deadLetter'),
      ]),
    );
  });

  it('measures how long messages with the timestamp of RabbitMQ were in their queue before they were first handled', async () => {
    const queue = unique('queue-time');
    const app = await start({ queue, retry: { attempts: 2 }, onError: 'retry' }, () => {
      throw new Error('no');
    });
    const now = Date.now();
    await broker.send(queue, 1, { headers: { timestamp_in_ms: now - 20_000 } });
    // The clocks of two machines differ.
    await broker.send(queue, 2, { headers: { timestamp_in_ms: now + 600_000 } });
    await broker.send(queue, 3, { headers: { timestamp_in_ms: 'yesterday' } });
    await broker.send(queue, 4);
    await app.settled(8);
    const points = (await app.metrics.read()).get('settle.queue_time');
    expect(points).toHaveLength(1);
    expect(points?.[0]?.attributes).toEqual({
      'messaging.system': 'rabbitmq',
      'messaging.destination.name': queue,
      'settle.handler': 'Handler.handle',
    });
    const value = (points?.[0]?.value ?? {}) as Readonly<Record<string, number>>;
    const { count, sum, min } = value;
    expect({ count, min }).toEqual({ count: 2, min: 0 });
    expect(sum).toBeGreaterThanOrEqual(20);
    expect(sum).toBeLessThan(60);
  });

  it('measures what is in flight and what waits', async () => {
    const queue = unique('in-flight');
    const [started, end] = [new Gate(), new Gate()];
    const app = await start({ queue, concurrency: 1, prefetch: 3, stuckAfter: 50 }, async () => {
      started.open();
      await end.promise;
    });
    await broker.send(queue, 1);
    await broker.send(queue, 2);
    await started.promise;
    await until(() => app.registry.get(app.Handler, 'handle').stuck === 1);
    const { registry, Handler } = app;
    await until(() => registry.get(Handler, 'handle').waiting === 1);
    const read = await app.metrics.read();
    expect(read.get('settle.deliveries.in_flight')).toMatchObject([{ value: 1 }]);
    expect(read.get('settle.deliveries.waiting')).toMatchObject([{ value: 1 }]);
    expect(read.get('settle.deliveries.stuck')).toMatchObject([{ value: 1 }]);
    expect(Number(read.get('settle.deliveries.oldest_age')?.[0]?.value)).toBeGreaterThan(0.04);
    end.open();
    await app.settled(2);
    const after = await app.metrics.read();
    expect(after.get('settle.deliveries.in_flight')).toMatchObject([{ value: 0 }]);
    expect(after.get('settle.deliveries.oldest_age')).toMatchObject([{ value: 0 }]);
  });

  it('shows the state of a subscription and the cause of its pause, to the end', async () => {
    const queue = unique('state');
    const app = await start({ queue }, () => undefined);
    const on = async () => {
      const points = (await app.metrics.read()).get('settle.subscription.state');
      expect(points).toHaveLength(11);
      return points?.filter(isOn).map(({ attributes }) => attributes);
    };
    expect(await on()).toMatchObject([{ 'settle.state': 'consuming' }]);
    await app.registry.pause(app.Handler, 'handle');
    expect(await on()).toMatchObject([
      { 'settle.state': 'paused', 'settle.pause_cause': 'operator' },
    ]);
    await app.close();
    expect(await on()).toMatchObject([{ 'settle.state': 'stopped' }]);
  });
});
