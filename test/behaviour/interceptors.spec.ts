import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { catchError, defaultIfEmpty, filter, map, Observable, of, tap, timeout } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ack, drop, type Outcome, retryAfter, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';

type Intercept = (values: Observable<unknown>, context: ExecutionContext) => Observable<unknown>;

function interceptorOf(intercept: Intercept): Type<NestInterceptor> {
  @Injectable()
  class Named implements NestInterceptor {
    intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
      return intercept(next.handle(), context);
    }
  }
  return Named;
}

describe.each(['classic', 'quorum'] as const)('an interceptor on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function intercepted(intercept: Intercept, body: () => unknown) {
    const queue = unique('intercepted');
    const Named = interceptorOf(intercept);
    @Injectable()
    class Handler {
      @UseInterceptors(Named)
      @Subscribe({ queue, queueType, deadLetter: `${queue}.dead` })
      async handle(): Promise<Outcome | undefined> {
        return (await body()) as Outcome | undefined;
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    return { app, settlement: settlement! };
  }

  const envelope: Intercept = (values) => values.pipe(map((data) => ({ data })));

  it.each<[what: string, body: () => unknown, decision: string]>([
    ['ack()', () => ack(), 'ack'],
    ['drop()', () => drop(), 'deadLetter'],
    ['retryAfter()', () => retryAfter(60_000), 'republish'],
    ['nothing', () => undefined, 'ack'],
  ])('that wraps the result does not hide %s', async (_what, body, decision) => {
    const { app, settlement } = await intercepted(envelope, body);
    expect(settlement.decision.kind).toBe(decision);
    expect(app.log.matching(/\[unexpected-result\]/)).toEqual([]);
  });

  it('that emits no value does not change the outcome of the handler', async () => {
    const none: Intercept = (values) => values.pipe(filter(() => false));
    const nothing = await intercepted(none, () => undefined);
    expect(nothing.settlement.decision.kind).toBe('ack');
    const outcome = await intercepted(none, () => drop());
    expect(outcome.settlement.decision.kind).toBe('deadLetter');
  });

  it('may return another outcome', async () => {
    const { settlement } = await intercepted(
      (values) => values.pipe(map(() => drop('by the interceptor'))),
      () => ack(),
    );
    expect(settlement.outcome.reason).toBe('by the interceptor');
  });

  it('may turn an error into an outcome', async () => {
    const { settlement } = await intercepted(
      (values) => values.pipe(catchError(() => of(ack()))),
      () => Promise.reject(new Error('failed')),
    );
    expect(settlement.decision.kind).toBe('ack');
  });

  it('that has a timeout of its own causes an error, and is named in the log', async () => {
    const { app, settlement } = await intercepted(
      (values) => values.pipe(timeout(50)),
      () => new Promise((resolve) => setTimeout(resolve, 5_000).unref()),
    );
    expect(settlement.error).toHaveProperty('name', 'TimeoutError');
    expect(settlement.decision).toEqual({ kind: 'deadLetter', reason: 'error' });
    expect(app.log.matching(/Named threw after/, ['warn'])).toHaveLength(1);
    expect(app.failed).toEqual([]);
  });

  it('that throws a TypeError, before or after the handler, causes a panic', async () => {
    const before: Intercept = (values, context) => {
      context.switchToHttp().getResponse().setHeader('x', 'y');
      return values;
    };
    const early = await intercepted(before, () => ack());
    const late = await intercepted(
      (values) => values.pipe(tap((value) => (value as { data: { id: 1 } }).data.id)),
      () => undefined,
    );
    for (const { app, settlement } of [early, late]) {
      expect(settlement.decision.kind).toBe('leaveUnsettled');
      await app.close();
      expect(app.failed).toHaveLength(1);
    }
  });

  it('that does not call the handler decides by its own result', async () => {
    let ran = false;
    const { settlement } = await intercepted(
      () => of(drop('cached')),
      () => {
        ran = true;
      },
    );
    expect(ran).toBe(false);
    expect(settlement.outcome.reason).toBe('cached');
  });

  it('sees the context type rmq, the class, the method and its metadata', async () => {
    const seen: unknown[] = [];
    await intercepted(
      (values, context) => {
        seen.push(context.getType(), context.getClass().name, context.getHandler().name);
        return values.pipe(defaultIfEmpty(undefined));
      },
      () => undefined,
    );
    expect(seen).toEqual(['rmq', 'Handler', 'handle']);
  });
});

describe('the asynchronous context', async () => {
  const broker = await openBroker();

  it.each(['nest', 'module'] as const)(
    'entered by a %s interceptor is visible in the handler and in andAfter()',
    async (kind) => {
      const queue = unique('als');
      const storage = new AsyncLocalStorage<string>();
      const seen: (string | undefined)[] = [];
      @Injectable()
      class Enter implements NestInterceptor {
        intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
          return new Observable((subscriber) =>
            storage.run('inside', () => next.handle().subscribe(subscriber)),
          );
        }
      }
      @Injectable()
      class Handler {
        @Subscribe({ queue })
        async handle(): Promise<Outcome> {
          seen.push(storage.getStore());
          await Promise.resolve();
          return ack().andAfter(async () => {
            seen.push(storage.getStore());
            await new Promise((resolve) => setImmediate(resolve));
            seen.push(storage.getStore());
          });
        }
      }
      await startApp({
        providers: [
          Handler,
          ...(kind === 'nest' ? [{ provide: APP_INTERCEPTOR, useClass: Enter }] : []),
        ],
        settle:
          kind === 'nest'
            ? {}
            : { interceptors: [(_delivery, next) => storage.run('inside', next)] },
      });
      await broker.send(queue, {});
      await until(() => seen.length === 3);
      expect(seen).toEqual(['inside', 'inside', 'inside']);
    },
  );
});
