import 'reflect-metadata';
import { SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type * as Token from '../../../lib/subscribe/token';

let token: typeof Token;

beforeEach(async () => {
  vi.resetModules();
  token = await import('../../../lib/subscribe/token');
});

function namesakes() {
  const first = class Billing {
    charge(): void {}
    refund(): void {}
  };
  const second = class Billing {
    charge(): void {}
  };
  return { first, second };
}

describe('getSubscriptionToken', () => {
  it('is a constant text with class, method and subscription', () => {
    const { first } = namesakes();
    const { getSubscriptionToken } = token;
    expect(getSubscriptionToken(first, 'charge')).toBe('Subscription:Billing.charge');
    expect(getSubscriptionToken(first, 'charge', 'q')).toBe('Subscription:Billing.charge:q');
    expect(getSubscriptionToken(first, 'charge')).toBe(getSubscriptionToken(first, 'charge'));
  });

  it('distinguishes two classes with the same name', () => {
    const { first, second } = namesakes();
    const { getSubscriptionToken } = token;
    const tokens = [first, second, first, second].map((type) =>
      getSubscriptionToken(type, 'charge'),
    );
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(tokens.slice(2)).toEqual(tokens.slice(0, 2));
  });

  it('is stable if classes are named in the same order', async () => {
    const { first, second } = namesakes();
    const tokensOf = ({ getSubscriptionToken }: typeof Token): string[] => [
      getSubscriptionToken(first, 'charge'),
      getSubscriptionToken(second, 'charge'),
    ];
    const before = tokensOf(token);
    vi.resetModules();
    expect(tokensOf(await import('../../../lib/subscribe/token'))).toEqual(before);
  });

  it('distinguishes methods, names and a missing name', () => {
    const { first } = namesakes();
    const { getSubscriptionToken } = token;
    const tokens = [
      getSubscriptionToken(first, 'charge'),
      getSubscriptionToken(first, 'refund'),
      getSubscriptionToken(first, 'charge', 'a'),
      getSubscriptionToken(first, 'charge', 'b'),
      getSubscriptionToken(first, 'charge', ''),
    ];
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  it('distinguishes a subclass from its base', () => {
    const { first } = namesakes();
    class Refunds extends first {}
    const { getSubscriptionToken } = token;
    expect(getSubscriptionToken(Refunds, 'charge')).not.toBe(getSubscriptionToken(first, 'charge'));
  });
});

describe('InjectSubscription', () => {
  it('injects the overridden subscription, not the token that a test overrides', () => {
    const { first } = namesakes();
    class Reader {}
    token.InjectSubscription(first, 'charge', 'q')(Reader, undefined, 0);
    const injected: unknown = Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, Reader);
    const own = token.getSubscriptionToken(first, 'charge', 'q');
    expect(token.getEffectiveSubscriptionToken(own)).not.toBe(own);
    expect(injected).toEqual([{ index: 0, param: token.getEffectiveSubscriptionToken(own) }]);
  });

  it('explains the cause if the class is undefined', () => {
    const inject = (): unknown => token.InjectSubscription(undefined as never, 'charge' as never);
    expect(inject).toThrow(TypeError);
    expect(inject).toThrow(/'charge'.*circular import/);
  });
});
