import {
  AmqpConnection,
  isRabbitContext,
  RABBIT_HANDLER,
  RabbitRPC,
  RabbitSubscribe,
} from '@golevelup/nestjs-rabbitmq';
import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, Reflector } from '@nestjs/core';
import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';

/** Lets messages pass and asks requests for a token, as golevelup's documentation shows it. */
@Injectable()
class TokenGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    if (isRabbitContext(context)) return true;
    const { headers } = context.switchToHttp().getRequest();
    if (headers.authorization === undefined) throw new UnauthorizedException();
    return true;
  }
}

@Injectable()
class ResponseInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (isRabbitContext(context)) return next.handle();
    context.switchToHttp().getResponse().setHeader('x-powered-by', 'nobody');
    return next.handle();
  }
}

const GLOBALS = [
  { provide: APP_GUARD, useClass: TokenGuard },
  { provide: APP_INTERCEPTOR, useClass: ResponseInterceptor },
];

describe('guards and interceptors that ask isRabbitContext()', async () => {
  const broker = await openBroker();

  it('let messages of @Subscribe pass, and those of golevelup beside them, each registered once', async () => {
    const name = unique('rabbit-context');
    const seen: string[] = [];
    @Injectable()
    class Orders {
      @Subscribe({ queue: `${name}.ours`, deadLetter: `${name}.dead` })
      ours(): void {
        seen.push('ours');
      }

      @RabbitSubscribe({ exchange: name, routingKey: 'event', queue: `${name}.event` })
      event(): void {
        seen.push('event');
      }

      @RabbitRPC({ exchange: name, routingKey: 'ask', queue: `${name}.ask` })
      ask({ n }: { readonly n: number }): number {
        return n + 1;
      }
    }
    const app = await startApp({
      providers: [Orders, ...GLOBALS],
      rabbit: { exchanges: [{ name, type: 'topic' }], enableDirectReplyTo: true },
    });
    await broker.send(`${name}.ours`, {});
    await broker.publish(name, 'event', {});
    const amqp = app.app.get(AmqpConnection);
    const answer = await amqp.request({ exchange: name, routingKey: 'ask', payload: { n: 1 } });
    expect(answer).toBe(2);
    await until(() => seen.length === 2);
    expect([...seen].sort()).toEqual(['event', 'ours']);
    const [settlement] = await app.settled(1);
    expect(settlement?.decision.kind).toBe('ack');
    for (const queue of ['ours', 'event', 'ask']) {
      expect(await broker.consumers(`${name}.${queue}`)).toBe(1);
    }
  });

  it('find it true on a method, and leave the metadata of the class alone', async () => {
    const queue = unique('rabbit-context');
    const contexts: unknown[] = [];
    @Injectable()
    class Asking implements CanActivate {
      constructor(private readonly reflector: Reflector) {}

      canActivate(context: ExecutionContext): boolean {
        const handler = this.reflector.get(RABBIT_HANDLER, context.getHandler());
        contexts.push(isRabbitContext(context), context.getType(), handler);
        return true;
      }
    }
    @Injectable()
    class Orders {
      @UseGuards(Asking)
      @Subscribe({ queue })
      handle(): void {}
    }
    await startApp({ providers: [Orders] });
    await broker.send(queue, {});
    await until(() => contexts.length > 0);
    expect(contexts).toEqual([true, 'rmq', { type: 'subscribe', queue }]);
    expect(Reflect.hasMetadata(RABBIT_HANDLER, Orders.prototype.handle)).toBe(false);
  });
});
