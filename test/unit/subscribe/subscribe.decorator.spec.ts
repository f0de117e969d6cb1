import { describe, expect, it, vi } from 'vitest';
import type { SubscribeOptions } from '../../../lib/model/options';
import { ack, type Outcome } from '../../../lib/model/outcome';
import { decoratedClasses, subscribeOptionsOf } from '../../../lib/subscribe/decorated-classes';
import { Subscribe } from '../../../lib/subscribe/subscribe.decorator';

const q: SubscribeOptions = { queue: 'q' };
const r: SubscribeOptions = { queue: 'r' };

/** Decorates without the compiler's checks. */
function decorate(target: object, key: string | symbol, descriptor?: PropertyDescriptor): void {
  const decorator: unknown = Subscribe(q);
  (decorator as (...args: readonly unknown[]) => void)(target, key, descriptor);
}

function decorateOwn(target: object, key: string | symbol): void {
  decorate(target, key, Object.getOwnPropertyDescriptor(target, key));
}

describe('Subscribe', () => {
  it('stores the options of the decorated method only', () => {
    class Billing {
      @Subscribe(q)
      charge(): Outcome {
        return ack();
      }
      refund(): void {}
    }
    expect(subscribeOptionsOf(Billing.prototype, 'charge')).toEqual([q]);
    expect(subscribeOptionsOf(Billing.prototype, 'refund')).toBeUndefined();
    expect(decoratedClasses().get(Billing)).toEqual(new Map([['charge', [q]]]));
  });

  it('lists several decorators of one method in source order', () => {
    class Billing {
      @Subscribe(q)
      @Subscribe(r)
      @Subscribe({ queue: 's' })
      charge(): void {}
      @Subscribe(r)
      refund(): void {}
    }
    const expected = [q, r, { queue: 's' }];
    expect(subscribeOptionsOf(Billing.prototype, 'charge')).toEqual(expected);
    expect(decoratedClasses().get(Billing)?.get('charge')).toEqual(expected);
    expect(decoratedClasses().get(Billing)?.get('refund')).toEqual([r]);
  });

  it('does not change the method', () => {
    const charge = (): void => {};
    const descriptor = { value: charge, configurable: true };
    const target = class Billing {}.prototype;
    decorate(target, 'charge', descriptor);
    expect(descriptor).toEqual({ value: charge, configurable: true });
  });
});

describe('inheritance', () => {
  class Base {
    @Subscribe(q)
    handle(): void {}
  }
  class Inheriting extends Base {}
  class Overriding extends Base {
    override handle(): void {}
  }
  class Redecorated extends Base {
    @Subscribe(r)
    override handle(): void {}
  }
  class Below extends Redecorated {}

  it.each<[string, abstract new () => Base, SubscribeOptions[]]>([
    ['a subclass inherits the subscription', Inheriting, [q]],
    ['an overriding method inherits it without a decorator', Overriding, [q]],
    ['an overriding method with a decorator has only its own', Redecorated, [r]],
    ['subclasses of that inherit its own', Below, [r]],
    ['the base is unchanged', Base, [q]],
  ])('%s', (_name, { prototype }, expected) => {
    expect(subscribeOptionsOf(prototype, 'handle')).toEqual(expected);
  });

  it('lists only the decorators of the class itself', () => {
    expect(decoratedClasses().get(Base)?.get('handle')).toEqual([q]);
    expect(decoratedClasses().get(Redecorated)?.get('handle')).toEqual([r]);
    expect(decoratedClasses().has(Inheriting)).toBe(false);
    expect(decoratedClasses().has(Overriding)).toBe(false);
  });
});

describe('a decorator that replaces the method', () => {
  const calls: string[] = [];
  function Traced(_target: object, key: string, descriptor: PropertyDescriptor): void {
    const traced: () => unknown = descriptor.value;
    descriptor.value = function (this: unknown): unknown {
      calls.push(key);
      return traced.call(this);
    };
  }
  class Billing {
    @Traced
    @Subscribe(q)
    above(): Outcome {
      return ack();
    }
    @Subscribe(q)
    @Traced
    below(): Outcome {
      return ack();
    }
  }

  it.each(['above', 'below'] as const)('(%s @Subscribe) keeps the options and runs', (method) => {
    expect(subscribeOptionsOf(Billing.prototype, method)).toEqual([q]);
    expect(new Billing()[method]()).toEqual(ack());
    expect(calls).toContain(method);
  });

  it('on the class keeps the options', () => {
    class Refunds {
      @Subscribe(q)
      refund(): void {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(Refunds.prototype, 'refund') ?? {};
    Traced(Refunds.prototype, 'refund', descriptor);
    Object.defineProperty(Refunds.prototype, 'refund', descriptor);
    expect(subscribeOptionsOf(Refunds.prototype, 'refund')).toEqual([q]);
  });
});

describe('Subscribe on an unsupported member', () => {
  const secret = Symbol('secret');
  class Billing {
    static charge(): void {}
    [secret](): void {}
    *generate(): Generator {}
    async *generateLater(): AsyncGenerator {}
    get balance(): never {
      throw new Error('a getter ran');
    }
    set limit(_value: number) {
      throw new Error('a setter ran');
    }
  }

  it.each<[what: string, target: object, key: string | symbol]>([
    ['a static method', Billing, 'charge'],
    ['a symbol', Billing.prototype, secret],
    ['a generator', Billing.prototype, 'generate'],
    ['a generator', Billing.prototype, 'generateLater'],
    ['an accessor', Billing.prototype, 'balance'],
    ['an accessor', Billing.prototype, 'limit'],
    ['a property', Billing.prototype, 'arrow'],
    ['a property', Billing.prototype, 'constant'],
  ])('throws with class and member for %s', (what, target, key) => {
    Object.defineProperty(target, 'constant', { value: 5, configurable: true });
    expect(() => decorateOwn(target, key)).toThrow(TypeError);
    expect(() => decorateOwn(target, key)).toThrow(`Billing.${String(key)}: `);
    expect(() => decorateOwn(target, key)).toThrow(`found ${what}`);
  });

  it('leaves no metadata', () => {
    expect(decoratedClasses().has(Billing)).toBe(false);
    expect(Reflect.getMetadataKeys(Billing.prototype, 'generate')).toEqual([]);
  });

  it('throws for an arrow property', () => {
    expect(() => {
      class Refunds {
        // @ts-expect-error A property is not a method.
        @Subscribe(q)
        refund = (): void => {};
      }
      return Refunds;
    }).toThrow('Refunds.refund: ');
  });
});

describe('another copy of the package', () => {
  it('shares the decorated classes', async () => {
    class Billing {
      @Subscribe(q)
      charge(): void {}
    }
    vi.resetModules();
    const copy = await import('../../../lib/subscribe/decorated-classes');
    expect(copy.subscribeOptionsOf).not.toBe(subscribeOptionsOf);
    expect(copy.subscribeOptionsOf(Billing.prototype, 'charge')).toEqual([q]);
  });
});

it('says how to compile instead if it is used as a standard decorator', () => {
  const decorate = Subscribe({ queue: 'q' }) as unknown as (
    value: unknown,
    context: unknown,
  ) => void;
  const context = { kind: 'method', name: 'charge', static: false, private: false };
  expect(() => decorate(() => undefined, context)).toThrow(
    /@Subscribe on charge\(\): expected a legacy decorator.*"experimentalDecorators": true/,
  );
});
