import { Injectable, Module, Scope } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import {
  type Delivery,
  type DeliveryInterceptor,
  drop,
  type InjectableDeliveryInterceptor,
  type Outcome,
} from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { handlerOf } from '../support/handlers';

const broker = await openBroker();

@Injectable()
class Store {
  readonly entries: string[] = [];
}

@Injectable()
class Audit implements InjectableDeliveryInterceptor {
  constructor(private readonly store: Store) {}

  async intercept({ messageId }: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
    const outcome = await next();
    this.store.entries.push(`audit ${messageId} ${outcome.kind}`);
    return outcome;
  }
}

@Module({ providers: [Audit, Store], exports: [Store] })
class AuditModule {}

describe('interceptors of SettleModule', () => {
  it('are functions and classes that Nest resolves, outermost first', async () => {
    const queue = unique('intercepted');
    const Handler = handlerOf({ queue }, () => undefined);
    const calls: string[] = [];
    const outer: DeliveryInterceptor = async (_delivery, next) => {
      calls.push('outer');
      return next();
    };
    const inner: DeliveryInterceptor = async (_delivery, next) => {
      calls.push('inner');
      await next();
      return drop('changed');
    };
    const { app, settled } = await startApp({
      providers: [Handler],
      imports: [AuditModule],
      settle: { interceptors: [outer, Audit, inner] },
    });
    await broker.send(queue, {}, { messageId: 'm-1' });
    const [settlement] = await settled(1);
    expect(settlement?.outcome).toMatchObject({ kind: 'drop', reason: 'changed' });
    expect(calls).toEqual(['outer', 'inner']);
    expect(app.get(Store, { strict: false }).entries).toEqual(['audit m-1 drop']);
  });

  it('that throw are handled by onError', async () => {
    const queue = unique('throwing');
    const Handler = handlerOf({ queue, deadLetter: `${queue}.dead` }, () => undefined);
    @Injectable()
    class Throwing implements InjectableDeliveryInterceptor {
      async intercept(): Promise<Outcome> {
        throw new Error('no audit, no work');
      }
    }
    const { settled } = await startApp({
      providers: [Handler, Throwing],
      settle: { interceptors: [Throwing] },
    });
    await broker.send(queue, {});
    const [settlement] = await settled(1);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason: 'error' });
  });

  @Injectable({ scope: Scope.REQUEST })
  class PerRequest implements InjectableDeliveryInterceptor {
    intercept(_delivery: Delivery, next: () => Promise<Outcome>): Promise<Outcome> {
      return next();
    }
  }

  it.each([
    ['not a provider', []],
    ['request-scoped', [PerRequest]],
  ])('that are %s are refused at startup', async (_what, providers) => {
    const Handler = handlerOf({ queue: unique('refused') }, () => undefined);
    const parts = {
      providers: [Handler, ...providers],
      settle: { interceptors: [PerRequest] },
    };
    await expect(startApp(parts)).rejects.toThrow(
      'SettleModule: interceptors: PerRequest: expected a singleton provider',
    );
  });
});
