import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it } from 'vitest';
import { ack, drop, fixed, Panic, SettlementEvents, type SubscribeOptions } from '../../lib';
import {
  SettleOpenTelemetryModule,
  type SettleOpenTelemetryOptions,
} from '../../lib/opentelemetry';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type Body, handlerOf } from '../support/handlers';
import { RecordedTraces, useOpenTelemetry } from '../support/telemetry';

class BankTimeout extends Error {}

describe('tracing', async () => {
  useOpenTelemetry();
  const broker = await openBroker();

  async function start(
    options: SubscribeOptions,
    body: Body,
    telemetry: SettleOpenTelemetryOptions = {},
  ) {
    const traces = new RecordedTraces();
    const app = await startApp({
      providers: [handlerOf(options, body)],
      settle: { shutdownTimeout: 300, abortGracePeriod: 0 },
      imports: [
        SettleOpenTelemetryModule.forRoot({
          metrics: false,
          tracerProvider: traces.provider,
          ...telemetry,
        }),
      ],
    });
    return { ...app, traces, tracer: traces.provider.getTracer('test') };
  }

  type Started = Awaited<ReturnType<typeof start>>;

  /** Publishes within a span of a producer; returns the span's context. */
  async function publishFrom({ tracer }: Started, queue: string, messageId: string) {
    const span = tracer.startSpan('publish', { kind: SpanKind.PRODUCER });
    const headers: Record<string, unknown> = {};
    propagation.inject(trace.setSpan(context.active(), span), headers);
    await broker.send(queue, {}, { messageId, correlationId: 'order-1', headers });
    span.end();
    return span.spanContext();
  }

  const byAttempt = (spans: readonly ReadableSpan[]): ReadableSpan[] =>
    [...spans].sort(
      (one, other) =>
        Number(one.attributes['settle.attempt']) - Number(other.attributes['settle.attempt']),
    );
  const linked = (span: ReadableSpan | undefined) => span?.links.map((one) => one.context.spanId);

  it('follows a message from its producer over three attempts to the dead letter', async () => {
    const [queue, dead] = [unique('traced'), unique('dead')];
    const app: Started = await start(
      {
        queue,
        retry: { attempts: 3, backoff: fixed('50ms') },
        deadLetter: dead,
        onError: 'retryAfter',
      },
      () => {
        app.tracer.startSpan('charge').end();
        throw new BankTimeout('no answer from the bank');
      },
    );
    const producer = await publishFrom(app, queue, 'one');
    await app.settled(3);
    const spans = byAttempt(app.traces.named(`process ${queue}`));
    const [first, second, third] = spans;
    expect(spans.map(({ kind }) => kind)).toEqual(Array(3).fill(SpanKind.CONSUMER));
    expect(first?.attributes).toMatchObject({
      'messaging.system': 'rabbitmq',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': queue,
      'messaging.message.id': 'one',
      'messaging.message.conversation_id': 'order-1',
      'messaging.message.body.size': 2,
      'settle.handler': 'Handler.handle',
      'settle.attempt': 1,
      'settle.attempts': 3,
      'settle.outcome': 'retryAfter',
      'settle.decision': 'republish',
      'settle.delay': 0.05,
      'settle.status': 'sent',
      'settle.reason': 'error',
      'error.type': 'BankTimeout',
    });
    expect(first?.events).toMatchObject([
      { name: 'exception', attributes: { 'exception.message': 'no answer from the bank' } },
    ]);
    expect(third?.attributes).toMatchObject({
      'settle.attempt': 3,
      'settle.decision': 'deadLetter',
      'settle.reason': 'attempts',
      'settle.republished.queue': dead,
    });
    for (const { status } of spans) {
      expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'no answer from the bank' });
    }
    // The first is the producer's child; each later one begins a trace with links.
    expect(first?.parentSpanContext?.spanId).toBe(producer.spanId);
    expect(first?.spanContext().traceId).toBe(producer.traceId);
    expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(3);
    expect([second, third].map((span) => span?.parentSpanContext)).toEqual([undefined, undefined]);
    expect(linked(first)).toEqual([]);
    expect(linked(second)).toEqual([producer.spanId, first?.spanContext().spanId]);
    expect(linked(third)).toEqual([producer.spanId, second?.spanContext().spanId]);
    // What the handler does belongs to its attempt.
    const parents = app.traces
      .named('charge')
      .map(({ parentSpanContext }) => parentSpanContext?.spanId);
    expect(parents.sort()).toEqual(spans.map((span) => span.spanContext().spanId).sort());
    const { headers } = (await broker.take(dead)).properties;
    expect(headers?.['traceparent']).toContain(producer.spanId);
    expect(headers?.['x-settle-trace']).toBe(
      `00-${third?.spanContext().traceId}-${third?.spanContext().spanId}-01,00-${producer.traceId}-${producer.spanId}-01`,
    );
    expect(app.traces.open).toEqual([]);
  });

  it('makes every attempt a child of the producer, or none, if asked to', async () => {
    for (const relation of ['parent', 'link'] as const) {
      const queue = unique('related');
      const options: SubscribeOptions = { queue, retry: { attempts: 2 }, onError: 'retry' };
      const app = await start(
        options,
        () => {
          throw new Error('no');
        },
        { relation, errorOn: 'deadLetter' },
      );
      const producer = await publishFrom(app, queue, 'one');
      await app.settled(2);
      const [first, second] = byAttempt(app.traces.named(`process ${queue}`));
      const parents = [first, second].map((span) => span?.parentSpanContext?.spanId);
      if (relation === 'parent') {
        expect(parents).toEqual([producer.spanId, producer.spanId]);
        expect(linked(second)).toEqual([first?.spanContext().spanId]);
      } else {
        expect(parents).toEqual([undefined, undefined]);
        expect(linked(first)).toEqual([producer.spanId]);
        expect(linked(second)).toEqual([producer.spanId, first?.spanContext().spanId]);
      }
      expect(first?.status.code).toBe(SpanStatusCode.UNSET);
      expect(second?.status.code).toBe(SpanStatusCode.ERROR);
      await app.close();
    }
  });

  it('begins a trace where there is no producer, and keeps the decision of one that is not sampled', async () => {
    const queue = unique('unsampled');
    const app = await start({ queue, retry: { attempts: 2 }, onError: 'retry' }, () => {
      throw new Error('no');
    });
    await broker.send(queue, {}, { messageId: 'alone', headers: { traceparent: 'nonsense' } });
    await app.settled(2);
    const [first, second] = byAttempt(app.traces.named(`process ${queue}`));
    expect(first?.parentSpanContext).toBeUndefined();
    expect(linked(first)).toEqual([]);
    expect(linked(second)).toEqual([first?.spanContext().spanId]);
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
    await broker.send(queue, {}, { messageId: 'unsampled', headers: { traceparent } });
    await app.settled(4);
    expect(app.traces.named(`process ${queue}`)).toHaveLength(2);
  });

  it('runs the handler, andAfter and subscribers of the events in the context of the span, with baggage', async () => {
    const queue = unique('context');
    const seen: Record<string, string | undefined> = {};
    const see = (where: string): void => {
      seen[where] = trace.getActiveSpan()?.spanContext().spanId;
    };
    const app = await start({ queue }, async () => {
      await Promise.resolve();
      see('handler');
      seen['baggage'] = propagation.getActiveBaggage()?.getEntry('tenant')?.value;
      return ack().andAfter(() => see('andAfter'));
    });
    app.app.get(SettlementEvents).subscribe(() => see('event'));
    await broker.send(queue, {}, { headers: { baggage: 'tenant=acme' } });
    await until(() => 'andAfter' in seen);
    const [span] = app.traces.named(`process ${queue}`);
    const id = span?.spanContext().spanId;
    expect(seen).toEqual({ handler: id, andAfter: id, event: id, baggage: 'acme' });
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  it('has a span for a batch, linked with those of its messages; the method runs in it', async () => {
    const queue = unique('batch');
    const batch = { size: 2, wait: 200 };
    const seen: (string | undefined)[] = [];
    const baggage: (string | undefined)[] = [];
    const options = { queue, batch, retry: { attempts: 2 }, onError: 'retry' } as const;
    const app: Started = await start(options, async (payloads: unknown) => {
      await Promise.resolve();
      seen.push(trace.getActiveSpan()?.spanContext().spanId);
      baggage.push(propagation.getActiveBaggage()?.getEntry('tenant')?.value);
      if ((payloads as unknown[]).length === 2) throw new BankTimeout('no answer');
    });
    const first = await publishFrom(app, queue, 'one');
    await broker.send(queue, {}, { headers: { baggage: 'tenant=acme' } });
    await app.settled(4);
    const spans = byAttempt(app.traces.named(`process ${queue}`));
    expect(spans).toHaveLength(4);
    const [own, ...others] = app.traces.named(`process batch ${queue}`);
    expect(others).toEqual([]);
    expect(own).toMatchObject({
      kind: SpanKind.INTERNAL,
      parentSpanContext: undefined,
      status: { code: SpanStatusCode.ERROR, message: 'no answer' },
      attributes: {
        'messaging.system': 'rabbitmq',
        'messaging.destination.name': queue,
        'messaging.batch.message_count': 2,
        'settle.handler': 'Handler.handle',
        'error.type': 'BankTimeout',
      },
    });
    const ids = spans.map((span) => span.spanContext().spanId);
    expect(linked(own)?.sort()).toEqual(ids.slice(0, 2).sort());
    for (const span of spans.slice(0, 2)) expect(linked(span)).toContain(own?.spanContext().spanId);
    expect(spans.map((span) => span.parentSpanContext?.spanId)).toContain(first.spanId);
    // What is retried is handled alone, in the span of its message.
    expect(seen[0]).toBe(own?.spanContext().spanId);
    expect(seen.slice(1).sort()).toEqual(ids.slice(2).sort());
    expect(baggage[0]).toBeUndefined();
    expect(app.traces.open).toEqual([]);
  });

  it('ends the span of an attempt that is retried in its place with its error, and links the next to it', async () => {
    const queue = unique('ordered');
    const order = { by: () => 'key', instances: 1 } as const;
    const options = { queue, order, retry: { attempts: 3 }, onError: 'retry' } as const;
    const app: Started = await start(options, (_payload, { attempt }) => {
      if (attempt < 3) throw new BankTimeout('no answer');
    });
    const producer = await publishFrom(app, queue, 'one');
    await app.settled(1);
    const spans = byAttempt(app.traces.named(`process ${queue}`));
    const [first, second, third] = spans;
    for (const span of [first, second]) {
      expect(span?.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no answer' });
      expect(span?.attributes).toMatchObject({
        'settle.outcome': 'retry',
        'settle.reason': 'error',
        'error.type': 'BankTimeout',
      });
    }
    expect(third?.attributes).toMatchObject({ 'settle.attempt': 3, 'settle.status': 'sent' });
    expect(first?.parentSpanContext?.spanId).toBe(producer.spanId);
    expect(linked(second)).toEqual([producer.spanId, first?.spanContext().spanId]);
    expect(linked(third)).toEqual([producer.spanId, second?.spanContext().spanId]);
    expect(app.traces.open).toEqual([]);
  });

  it("with errorOn: 'deadLetter' makes no error of a message that is redelivered", async () => {
    const queue = unique('redelivered');
    const [started, end] = [new Gate(), new Gate()];
    const app: Started = await start(
      { queue },
      async () => {
        started.open();
        await end.promise;
        throw new BankTimeout('no answer');
      },
      { errorOn: 'deadLetter' },
    );
    await broker.send(queue, {});
    await started.promise;
    await broker.delete(queue);
    await until(() => app.registry.list()[0]?.lastError !== undefined);
    end.open();
    const [settlement] = await app.settled(1);
    expect(settlement).toMatchObject({ decision: { kind: 'reject' }, status: 'abandoned' });
    const [span] = app.traces.named(`process ${queue}`);
    expect(span?.status.code).toBe(SpanStatusCode.UNSET);
  });

  const ends: [string, Partial<SubscribeOptions>, Body, string, string][] = [
    ['an acknowledgement', {}, () => undefined, 'ack', 'sent'],
    ['a drop', {}, () => drop(), 'reject', 'sent'],
    [
      'an invalid payload',
      {
        schema: {
          '~standard': {
            version: 1,
            vendor: 'test',
            validate: () => ({ issues: [{ message: 'no' }] }),
          },
        },
      },
      () => undefined,
      'reject',
      'sent',
    ],
    ['a timeout', { timeout: 20 }, () => new Promise(() => undefined), 'reject', 'sent'],
    ['noAck', { noAck: true }, () => drop(), 'none', 'none'],
  ];

  it.each(ends)('ends the span of %s', async (_what, options, body, decision, status) => {
    const queue = unique('ends');
    const app = await start({ queue, ...options } as SubscribeOptions, body);
    await broker.send(queue, {});
    await app.settled(1);
    const [span] = app.traces.named(`process ${queue}`);
    expect(span?.attributes).toMatchObject({
      'settle.decision': decision,
      'settle.status': status,
    });
    expect(app.traces.open).toEqual([]);
  });

  it('ends the spans of messages that are released at shutdown, running or waiting', async () => {
    const queue = unique('released');
    const started = new Gate();
    const app = await start({ queue, concurrency: 1, prefetch: 2 }, () => {
      started.open();
      return new Promise(() => undefined);
    });
    await broker.send(queue, {}, { messageId: 'running' });
    await broker.send(queue, {}, { messageId: 'waiting' });
    await started.promise;
    await app.close();
    const spans = app.traces.named(`process ${queue}`);
    expect(spans.map(({ attributes }) => attributes['settle.status'])).toEqual([
      'released',
      'released',
    ]);
    expect(app.traces.open).toEqual([]);
  });

  it('ends the span of a message that is left unsettled', async () => {
    const queue = unique('failed-fast');
    const app = await start({ queue }, () => {
      throw new Panic('a bug');
    });
    await broker.send(queue, {});
    await until(() => app.failed.length === 1);
    const [span] = app.traces.named(`process ${queue}`);
    expect(span?.attributes).toMatchObject({ 'settle.decision': 'leaveUnsettled' });
    expect(span?.status.code).toBe(SpanStatusCode.ERROR);
    expect(app.traces.open).toEqual([]);
  });

  it('refuses bad options at startup', async () => {
    const options = { relation: 'child', sampling: 1 } as never;
    await expect(start({ queue: unique('bad') }, () => undefined, options)).rejects.toThrow(
      /relation: expected one of 'auto', 'parent', 'link'; found 'child'[\s\S]*sampling: expected no such option/,
    );
  });
});
