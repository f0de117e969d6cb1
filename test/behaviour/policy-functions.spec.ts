import { Injectable, UsePipes, ValidationPipe } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { drop, on, retryAfter, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

class RateLimited extends Error {
  constructor(readonly waitMs: number) {
    super('too many requests');
  }
}

class InvalidOrder extends Error {}

class Order {
  @IsInt()
  amount!: number;
}

describe.each(['classic', 'quorum'] as const)('on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it.each([
    ['thrown', () => new RateLimited(300)],
    ['a cause', () => new Error('payment failed', { cause: new RateLimited(300) })],
    ['held by an AggregateError', () => new AggregateError([new Error('x'), new RateLimited(300)])],
  ])('an error that is %s decides about the delay of its retry', async (_how, make) => {
    const queue = unique('by-error');
    const rule = on(RateLimited, ({ waitMs }) => retryAfter(waitMs));
    const options = { queue, queueType, retry: { attempts: 3 }, onError: [rule] } as const;
    const Handler = handlerOf(options, (_payload, { attempt }) => {
      if (attempt === 1) throw make();
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [first, second] = await app.settled(2);
    expect(first?.decision).toMatchObject({ kind: 'republish', delayMs: 300 });
    expect(second?.decision.kind).toBe('ack');
  });

  it('a function decides about a panic and an invalid payload', async () => {
    const queue = unique('by-function');
    const options = {
      queue,
      queueType,
      deadLetter: `${queue}.dead`,
      onPanic: (error: unknown) => drop(`bug: ${String(error)}`),
      onInvalidPayload: (error: unknown) => drop(`invalid: ${(error as Error).name}`),
    } as const;
    const Handler = handlerOf(options, () => {
      throw new TypeError('x');
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, Buffer.from('{'));
    await app.settled(1);
    await broker.send(queue, {});
    await app.settled(2);
    for (const text of ['invalid: SyntaxError', 'bug: TypeError: x']) {
      const { properties } = await broker.take(`${queue}.dead`);
      expect(properties.headers?.['x-settle-error-message']).toBe(text);
    }
  });

  it('the error class of an exceptionFactory is an invalid payload, not an error to be retried', async () => {
    const queue = unique('factory');
    @Injectable()
    class Handler {
      @UsePipes(new ValidationPipe({ exceptionFactory: () => new InvalidOrder('no amount') }))
      @Subscribe({
        queue,
        queueType,
        retry: { attempts: 3 },
        deadLetter: `${queue}.dead`,
        onError: 'retry',
      })
      handle(_order: Order): void {}
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { amount: 'x' });
    const [settlement] = await app.settled(1);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason: 'invalid-payload' });
    expect(app.log.matching(/: ValidationPipe threw before the handler started/)).toHaveLength(1);
  });
});
