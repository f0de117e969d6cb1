import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  type BatchResult,
  type Delivery,
  drop,
  fixed,
  HandlerTimeoutError,
  on,
  retry,
  retryAfter,
  SettleStartupError,
  Subscribe,
  type SubscribeOptions,
} from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import type { AcknowledgedOptions } from '../support/handlers';

type Body = (payloads: readonly number[], deliveries: readonly Delivery[]) => unknown;

/** A new provider whose method `handle` gets batches, and the batches that it got. */
function batchHandler(
  options: AcknowledgedOptions & { batch: NonNullable<SubscribeOptions['batch']> },
  body: Body = () => undefined,
) {
  const batches: (readonly number[])[] = [];
  @Injectable()
  class Handler {
    @Subscribe(options as SubscribeOptions)
    handle(payloads: readonly number[], deliveries: unknown): void {
      batches.push(payloads);
      return body(payloads, deliveries as readonly Delivery[]) as never;
    }
  }
  return { Handler, batches };
}

describe('batches', async () => {
  const broker = await openBroker();
  const send = async (queue: string, payloads: readonly unknown[]): Promise<void> => {
    for (const payload of payloads) await broker.send(queue, payload);
  };

  it('are full, or as large as what has arrived when the first has waited; each message has a settlement', async () => {
    const queue = unique('batch');
    const { Handler, batches } = batchHandler({ queue, batch: { size: 3, wait: 150 } });
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4]);
    const settlements = await settled(4);
    expect(batches).toEqual([[1, 2, 3], [4]]);
    expect(settlements.map(({ batchSize, delivery }) => [delivery.payload, batchSize])).toEqual([
      [1, 3],
      [2, 3],
      [3, 3],
      [4, 1],
    ]);
  });

  it('take one outcome for all, or a list with one for each', async () => {
    const queue = unique('batch.outcomes');
    const dead = `${queue}.dead`;
    const { Handler } = batchHandler(
      { queue, deadLetter: dead, batch: { size: 3, wait: 100 } },
      (payloads) =>
        payloads.includes(1) ? [undefined, drop('odd'), undefined] : drop('all of them'),
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await settled(3);
    expect(String((await broker.take(dead)).content)).toBe('2');
    await send(queue, [4, 5]);
    await settled(5);
    await broker.waitForReady(dead, 2);
  });

  it('retries, attempts and dead letters are those of each message; what is retried comes alone', async () => {
    const queue = unique('batch.retries');
    const dead = `${queue}.dead`;
    const attempts: (readonly [number, number])[] = [];
    const { Handler, batches } = batchHandler(
      {
        queue,
        deadLetter: dead,
        retry: { attempts: 3, backoff: fixed(50) },
        batch: { size: 4, wait: 100 },
      },
      (payloads, deliveries) => {
        for (const [index, { attempt }] of deliveries.entries()) {
          attempts.push([payloads[index] ?? 0, attempt]);
        }
        return payloads.map((payload) => (payload === 2 ? retryAfter() : undefined));
      },
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4]);
    await settled(6);
    expect(batches).toEqual([[1, 2, 3, 4], [2], [2]]);
    expect(attempts.filter(([payload]) => payload === 2)).toEqual([
      [2, 1],
      [2, 2],
      [2, 3],
    ]);
    expect(String((await broker.take(dead)).content)).toBe('2');
  });

  it('a poison message costs the others of its batch one attempt at most', async () => {
    const queue = unique('batch.poison');
    const { Handler, batches } = batchHandler(
      {
        queue,
        deadLetter: `${queue}.dead`,
        retry: { attempts: 2 },
        onError: 'retry',
        batch: { size: 4, wait: 100 },
      },
      (payloads) => {
        if (payloads.includes(3)) throw new Error('poison');
      },
    );
    const { settlements } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4]);
    await until(() => settlements.filter(({ attempt }) => attempt === 2).length === 4);
    expect(batches.slice(1).map((batch) => batch.length)).toEqual([1, 1, 1, 1]);
    const ends = settlements.filter(({ attempt }) => attempt === 2);
    expect(ends.map(({ delivery, decision }) => [delivery.payload, decision.kind]).sort()).toEqual([
      [1, 'ack'],
      [2, 'ack'],
      [3, 'deadLetter'],
      [4, 'ack'],
    ]);
  });

  it('isolateRetries: false collects what is retried like anything else', async () => {
    const queue = unique('batch.together');
    const { Handler, batches } = batchHandler(
      { queue, retry: { attempts: 2 }, batch: { size: 2, wait: 200, isolateRetries: false } },
      (_payloads, [first]) => (first?.attempt === 1 ? retry() : undefined),
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2]);
    await settled(4);
    expect(batches.map((batch) => [...batch].sort())).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it('what is thrown is the failure of each; a thrown outcome is that of each', async () => {
    class BankClosed extends Error {}
    const queue = unique('batch.errors');
    const { Handler } = batchHandler(
      { queue, onError: [on(BankClosed, 'skip'), 'drop'], batch: { size: 2, wait: 100 } },
      async (payloads) => {
        if (payloads.includes(1)) throw new BankClosed('closed');
        throw drop('thrown');
      },
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4]);
    const settlements = await settled(4);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual([
      'ack',
      'ack',
      'reject',
      'reject',
    ]);
    expect(settlements[0]?.error).toBeInstanceOf(BankClosed);
    expect(settlements[2]?.outcome.reason).toBe('thrown');
  });

  it('a message that cannot be decoded is settled alone and never gets into a batch', async () => {
    const queue = unique('batch.invalid');
    const dead = `${queue}.dead`;
    const { Handler, batches } = batchHandler({
      queue,
      deadLetter: dead,
      batch: { size: 2, wait: 5_000 },
    });
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, Buffer.from('{'), 2]);
    const settlements = await settled(3);
    expect(batches).toEqual([[1, 2]]);
    const invalid = settlements.find(({ batchSize }) => batchSize === undefined);
    expect(invalid?.decision).toEqual({ kind: 'deadLetter', reason: 'invalid-payload' });
  });

  it.each<[string, unknown]>([
    ['a list that is too short', [undefined]],
    ['a list that is too long', [undefined, undefined, undefined]],
    ['a list of anything else', [undefined, 'ack']],
    ['an empty list', []],
    ['a list of promises, also of rejected ones', 'promises'],
  ])('%s is a bug: onPanic for each', async (_what, result) => {
    const queue = unique('batch.panic');
    const { Handler } = batchHandler(
      { queue, onPanic: 'drop', batch: { size: 2, wait: 500 } },
      (payloads) =>
        result === 'promises'
          ? payloads.map((payload) => Promise.reject(new Error(`declined ${payload}`)))
          : result,
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2]);
    const settlements = await settled(2);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(['reject', 'reject']);
    expect(settlements[0]?.error).toMatchObject({ name: 'Panic', message: /a batch of 2 needs/ });
  });

  it('failFast leaves the whole batch, and releases what is collected', async () => {
    const queue = unique('batch.fail-fast');
    const { Handler, batches } = batchHandler(
      { queue, prefetch: 10, batch: { size: 2, wait: 5_000 } },
      async () => {
        await until(() => app.registry.get(Handler, 'handle').waiting === 1);
        throw new ReferenceError('a bug');
      },
    );
    const app = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await until(() => app.failed.length === 1);
    await broker.waitForReady(queue, 3);
    expect(batches).toEqual([[1, 2]]);
    const ends = app.settlements.map(({ decision, status }) => `${decision.kind} ${status}`);
    expect(ends.sort()).toEqual(['leaveUnsettled none', 'leaveUnsettled none', 'requeue released']);
  });

  it('a timeout aborts every signal and is the failure of each', async () => {
    const queue = unique('batch.timeout');
    const reasons: unknown[] = [];
    const { Handler } = batchHandler(
      { queue, timeout: 200, batch: { size: 2, wait: 100 } },
      async (_payloads, deliveries) => {
        for (const { signal } of deliveries) {
          signal.addEventListener('abort', () => reasons.push(signal.reason));
        }
        await new Promise(() => {});
      },
    );
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2]);
    const settlements = await settled(2);
    expect(settlements.map(({ error }) => error instanceof HandlerTimeoutError)).toEqual([
      true,
      true,
    ]);
    expect(reasons).toHaveLength(2);
  });

  it('a pause releases what is collected and waits for what runs', async () => {
    const queue = unique('batch.pause');
    const finish = new Gate();
    const options = { queue, prefetch: 10, batch: { size: 2, wait: 60_000 } };
    const { Handler, batches } = batchHandler(options, () => finish.promise);
    const { registry, settlements } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3]);
    await until(() => registry.get(Handler, 'handle').waiting === 1);
    const paused = registry.pause(Handler, 'handle');
    await broker.waitForReady(queue, 1);
    finish.open();
    await paused;
    expect(batches).toEqual([[1, 2]]);
    expect(settlements.map(({ status }) => status)).toEqual(['released', 'sent', 'sent']);
  });

  it('concurrency is how many batches run at once', async () => {
    const queue = unique('batch.concurrency');
    const gates: Gate[] = [];
    const { Handler, batches } = batchHandler(
      { queue, batch: { size: 2, wait: 5_000, concurrency: 2 } },
      () => {
        const gate = new Gate();
        gates.push(gate);
        return gate.promise;
      },
    );
    const { registry, settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, 2, 3, 4, 5, 6]);
    await until(() => gates.length === 2);
    expect(registry.get(Handler, 'handle')).toMatchObject({ inFlight: 4, waiting: 0 });
    gates[0]?.open();
    await until(() => gates.length === 3);
    for (const gate of gates) gate.open();
    await settled(6);
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
  });

  it('run guards and interceptors of Nest once, and pipes for each payload', async () => {
    const queue = unique('batch.enhancers');
    const seen: unknown[] = [];
    class Guard implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        seen.push(['guard', context.getArgs()[0]]);
        return true;
      }
    }
    class Wrap implements NestInterceptor {
      intercept(_context: ExecutionContext, next: CallHandler) {
        seen.push('interceptor');
        return next.handle();
      }
    }
    class Twice {
      transform(value: number): number {
        if (value < 0) throw new Error('negative');
        return value * 2;
      }
    }
    @Injectable()
    class Handler {
      @Subscribe({ queue, batch: { size: 2, wait: 5_000 } })
      @UseGuards(new Guard())
      @UseInterceptors(new Wrap())
      @UsePipes(new Twice())
      handle(payloads: number[], deliveries: readonly Delivery[]): BatchResult {
        seen.push(payloads, deliveries.length);
        return of([undefined, drop()]);
      }
    }
    const { settled } = await startApp({ providers: [Handler] });
    await send(queue, [1, -1, 2]);
    const settlements = await settled(3);
    expect(seen).toEqual([['guard', [2, 4]], 'interceptor', [2, 4], 2]);
    const bySize = settlements.map(({ batchSize, decision }) => `${batchSize} ${decision.kind}`);
    expect(bySize.sort()).toEqual(['2 ack', '2 reject', 'undefined reject']);
  });

  it.each<[string, object, RegExp]>([
    [
      'a prefetch below the size',
      { prefetch: 5, batch: { size: 3, concurrency: 2 } },
      /prefetch: expected at least batch.size times batch.concurrency, which is 6, .*; found 5/,
    ],
    ['noAck', { noAck: true, batch: { size: 3 } }, /batch: expected no such option .* noAck/],
    [
      'concurrency',
      { concurrency: 2, batch: { size: 3 } },
      /concurrency: expected no such option beside batch/,
    ],
    ['no size', { batch: {} }, /batch.size: expected a whole number/],
    [
      'a wait beyond the consumer timeout',
      { queueType: 'quorum', consumerTimeout: '1m', batch: { size: 3, wait: '45s' } },
      /batch.wait: expected less than half of the consumer timeout of 1m; found '45s'/,
    ],
  ])('%s: a startup error', async (_what, options, fault) => {
    const { Handler } = batchHandler({ queue: unique('batch.faults'), ...options } as never);
    const started = startApp({ providers: [Handler] });
    await expect(started).rejects.toThrow(SettleStartupError);
    await expect(started).rejects.toThrow(fault);
  });
});
