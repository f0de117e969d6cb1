import {
  type CallHandler,
  Catch,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
  type Provider,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common';
import { map, type Observable, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type DeliveryInterceptor, drop, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';

/** What a bug does: reads a property of something that is not there. */
function bug(): never {
  return (undefined as unknown as { readonly headers: never }).headers;
}

type Decorator = MethodDecorator & ClassDecorator;

function interceptorOf(
  intercept: (values: Observable<unknown>) => Observable<unknown>,
): NestInterceptor {
  return {
    intercept: (_context: ExecutionContext, next: CallHandler) => intercept(next.handle()),
  };
}

@Catch()
class BuggyFilter {
  catch(): unknown {
    return bug();
  }
}

@Catch()
class TranslatingFilter {
  catch(): never {
    throw new ForbiddenException('translated');
  }
}

describe('a bug', async () => {
  const broker = await openBroker();

  interface Parts {
    readonly decorators?: readonly Decorator[];
    readonly interceptors?: readonly DeliveryInterceptor[];
    readonly providers?: readonly Provider[];
    readonly body?: () => void;
  }

  async function handled({ decorators = [], interceptors = [], body = () => {} }: Parts) {
    const queue = unique('enhancer-bug');
    let runs = 0;
    @Injectable()
    class Handler {
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      handle(): void {
        runs += 1;
        body();
      }
    }
    const descriptor = Object.getOwnPropertyDescriptor(Handler.prototype, 'handle') ?? {};
    for (const decorate of decorators) decorate(Handler.prototype, 'handle', descriptor);
    const app = await startApp({ providers: [Handler], settle: { interceptors } });
    await broker.send(queue, { id: 1 }, { messageId: 'm1' });
    const [settlement] = await app.settled(1);
    return { app, queue, runs, settlement };
  }

  it.each<[where: string, parts: Parts, runs: number]>([
    ['a guard', { decorators: [UseGuards({ canActivate: bug })] }, 0],
    ['a pipe', { decorators: [UsePipes({ transform: bug } as PipeTransform)] }, 0],
    ['an interceptor before the handler', { decorators: [UseInterceptors(interceptorOf(bug))] }, 0],
    [
      'an interceptor after the handler',
      { decorators: [UseInterceptors(interceptorOf((values) => values.pipe(map(bug))))] },
      1,
    ],
    [
      'an exception filter',
      {
        decorators: [UseFilters(BuggyFilter)],
        body: () => {
          throw new Error('declined');
        },
      },
      1,
    ],
    [
      'a guard, which a filter translates',
      { decorators: [UseGuards({ canActivate: bug }), UseFilters(TranslatingFilter)] },
      0,
    ],
    [
      'a pipe, which a filter translates',
      { decorators: [UsePipes({ transform: bug }), UseFilters(TranslatingFilter)] },
      0,
    ],
    ['an interceptor of the module', { interceptors: [bug] }, 0],
    [
      'an interceptor of the module that resolves with no outcome',
      { interceptors: [async (_delivery, next) => void (await next()) as never] },
      1,
    ],
  ])('in %s stops the application and costs no message', async (_where, parts, expectedRuns) => {
    const { app, queue, runs, settlement } = await handled(parts);
    expect(settlement?.decision.kind).toBe('leaveUnsettled');
    expect(runs).toBe(expectedRuns);
    await app.close();
    expect(app.failed).toHaveLength(1);
    expect(app.log.matching(/\[fail-fast\] message "m1"/, ['error'])).toHaveLength(1);
    await broker.waitForReady(queue, 1);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });

  it.each<[what: string, parts: Parts, reason: string]>([
    [
      'an HttpException of a guard',
      {
        decorators: [
          UseGuards({
            canActivate: () => {
              throw new ForbiddenException();
            },
          }),
        ],
      },
      'error',
    ],
    ['a denial', { decorators: [UseGuards({ canActivate: () => false })] }, 'error'],
    [
      'an outcome that a guard throws',
      {
        decorators: [
          UseGuards({
            canActivate: () => {
              throw drop('not today');
            },
          }),
        ],
      },
      'drop',
    ],
    [
      'an ordinary error of an interceptor',
      {
        decorators: [
          UseInterceptors(
            interceptorOf((values) =>
              values.pipe(
                tap(() => {
                  throw new Error('no cache');
                }),
              ),
            ),
          ),
        ],
      },
      'error',
    ],
  ])('is not %s', async (_what, parts, reason) => {
    const { app, settlement } = await handled(parts);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason });
    expect(app.failed).toEqual([]);
  });
});
