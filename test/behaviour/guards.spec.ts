import {
  BadRequestException,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Scope,
  UnauthorizedException,
  UnprocessableEntityException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import type { AppParts } from '../support/start-app';

@Injectable()
class Denies implements CanActivate {
  canActivate(): boolean {
    return false;
  }
}

describe.each(['classic', 'quorum'] as const)('a guard on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function guarded(parts: Partial<AppParts>, guard?: unknown) {
    const queue = unique('guarded');
    let runs = 0;
    @Injectable()
    class Handler {
      @UseGuards(...(guard === undefined ? [] : [guard as never]))
      @Subscribe({ queue, queueType, retry: { attempts: 3 }, deadLetter: `${queue}.dead` })
      handle(): void {
        runs += 1;
      }
    }
    const { providers = [], ...rest } = parts;
    const app = await startApp({ providers: [Handler, ...providers], ...rest });
    await broker.send(queue, {}, { messageId: 'm1' });
    const [settlement] = await app.settled(1);
    return { app, queue, settlement: settlement!, runs };
  }

  it.each<[how: string, parts: Partial<AppParts>, guard?: unknown]>([
    ['by APP_GUARD', { providers: [{ provide: APP_GUARD, useClass: Denies }] }],
    ['by useGlobalGuards', { prepare: (app) => app.useGlobalGuards(new Denies()) }],
    ['on the method, as a class', {}, Denies],
    ['on the method, as an instance', {}, new Denies()],
  ])(
    '%s that denies causes an error, is named in the log, and loses nothing',
    async (_how, parts, guard) => {
      const { app, queue, settlement, runs } = await guarded(parts, guard);
      expect(runs).toBe(0);
      expect(settlement.decision).toEqual({ kind: 'deadLetter', reason: 'error' });
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.properties.headers?.['x-settle-error-message']).toBe('Forbidden resource');
      expect(
        app.log.matching(
          /\[enhancer-error\] message "m1" .*: Denies threw before the handler started$/,
        ),
      ).toHaveLength(1);
      expect(app.failed).toEqual([]);
    },
  );

  it('that expects a request causes a panic', async () => {
    @Injectable()
    class Jwt implements CanActivate {
      canActivate(context: ExecutionContext): boolean {
        return context.switchToHttp().getRequest().headers.authorization.startsWith('Bearer');
      }
    }
    const { app, settlement } = await guarded({
      providers: [{ provide: APP_GUARD, useClass: Jwt }],
    });
    expect(settlement.decision.kind).toBe('leaveUnsettled');
    expect(settlement.error).toBeInstanceOf(TypeError);
    await app.close();
    expect(app.failed).toHaveLength(1);
  });

  it.each([
    ['400', new BadRequestException(), 'invalid-payload'],
    ['422', new UnprocessableEntityException(), 'invalid-payload'],
    ['401', new UnauthorizedException(), 'error'],
  ] as const)('that throws status %s', async (_status, error, reason) => {
    class Throws implements CanActivate {
      canActivate(): boolean {
        throw error;
      }
    }
    const { settlement } = await guarded({}, new Throws());
    expect(settlement.decision).toEqual({ kind: 'deadLetter', reason });
  });

  it('that checks the context type lets messages pass, and reads the metadata of the method', async () => {
    const Public = Reflector.createDecorator<boolean>();
    const seen: unknown[] = [];
    @Injectable()
    class HttpOnly implements CanActivate {
      constructor(private readonly reflector: Reflector) {}
      canActivate(context: ExecutionContext): boolean {
        seen.push(context.getType(), this.reflector.get(Public, context.getHandler()));
        return context.getType<string>() === 'rmq';
      }
    }
    const queue = unique('public');
    @Injectable()
    class Handler {
      @Public(true)
      @Subscribe({ queue, queueType })
      handle(): void {}
    }
    const app = await startApp({
      providers: [Handler, { provide: APP_GUARD, useClass: HttpOnly }],
    });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    expect(seen).toEqual(['rmq', true]);
  });
});

describe('a request-scoped global guard', async () => {
  const broker = await openBroker();

  it('does not run for messages, and is named in the log at startup', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest extends Denies {}
    const queue = unique('request-guard');
    @Injectable()
    class Handler {
      @Subscribe({ queue })
      handle(): void {}
    }
    const app = await startApp({
      providers: [Handler, { provide: APP_GUARD, useClass: PerRequest, scope: Scope.REQUEST }],
    });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    const [line] = app.log.matching(/request-scoped global enhancers/, ['warn']);
    expect(line).toContain('PerRequest');
  });
});
