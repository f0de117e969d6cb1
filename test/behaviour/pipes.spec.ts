import {
  BadRequestException,
  Injectable,
  NotFoundException,
  type PipeTransform,
  type Type,
  UnprocessableEntityException,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { IsInt, IsPositive } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { Delivery, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import type { TestApp } from '../support/start-app';

class Order {
  @IsInt()
  @IsPositive()
  amount!: number;
}

describe.each(['classic', 'quorum'] as const)(
  'a ValidationPipe on a %s queue',
  async (queueType) => {
    const broker = await openBroker();
    const options = (queue: string) => ({
      queue,
      queueType,
      retry: { attempts: 3 },
      deadLetter: `${queue}.dead`,
      onError: 'failFast' as const,
    });

    async function check(app: TestApp, queue: string, seen: unknown[]): Promise<void> {
      await broker.send(queue, { amount: -1 }, { messageId: 'bad' });
      await broker.send(queue, { amount: 5 });
      const settlements = await app.settled(2);
      expect(settlements.map(({ decision }) => decision.kind)).toContain('ack');
      const dead = await broker.take(`${queue}.dead`);
      expect(dead.properties.headers?.['x-settle-reason']).toBe('invalid-payload');
      expect(dead.properties.headers?.['x-settle-attempts-made']).toBe(1);
      expect(seen).toEqual([{ amount: 5 }]);
      expect(app.log.matching(/"bad" .*: .*ValidationPipe.* threw before/)).toHaveLength(1);
    }

    it('that is global validates the payload without a parameter decorator, and only the payload', async () => {
      const queue = unique('global-pipe');
      const seen: unknown[] = [];
      @Injectable()
      class Handler {
        @Subscribe(options(queue))
        handle(order: Order, message: Order, headers: Order, delivery: Delivery): void {
          seen.push(order);
          expect(order).toBeInstanceOf(Order);
          expect(message).toHaveProperty('fields');
          expect(headers).toEqual({});
          expect(delivery.attempt).toBe(1);
        }
      }
      const app = await startApp({
        providers: [Handler],
        prepare: (nest) =>
          nest.useGlobalPipes(
            new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }),
          ),
      });
      await check(app, queue, seen);
    });

    it('of APP_PIPE validates an undecorated first parameter next to decorated ones', async () => {
      const queue = unique('app-pipe');
      const seen: unknown[] = [];
      @Injectable()
      class Handler {
        @Subscribe(options(queue))
        handle(order: Order, @Delivery() delivery: Delivery): void {
          expect(order).toBeInstanceOf(Order);
          expect(delivery.attempt).toBe(1);
          seen.push(order);
        }
      }
      const app = await startApp({
        providers: [
          Handler,
          { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true }) },
        ],
      });
      await check(app, queue, seen);
    });

    it('on the method validates the payload', async () => {
      const queue = unique('method-pipe');
      const seen: unknown[] = [];
      @Injectable()
      class Handler {
        @UsePipes(ValidationPipe)
        @Subscribe(options(queue))
        handle(order: Order): void {
          seen.push(order);
        }
      }
      await check(await startApp({ providers: [Handler] }), queue, seen);
    });

    it('on the class validates the payload', async () => {
      const queue = unique('class-pipe');
      const seen: unknown[] = [];
      @Injectable()
      @UsePipes(new ValidationPipe())
      class Handler {
        @Subscribe(options(queue))
        handle(order: Order): void {
          seen.push(order);
        }
      }
      await check(await startApp({ providers: [Handler] }), queue, seen);
    });
  },
);

class InvalidOrder extends Error {}

describe('a pipe', async () => {
  const broker = await openBroker();

  function throwing(error: unknown): Type<PipeTransform> {
    @Injectable()
    class Own implements PipeTransform {
      transform(): never {
        throw error;
      }
    }
    return Own;
  }

  it.each([
    ['400', new BadRequestException('x'), 'invalid-payload'],
    ['422', new UnprocessableEntityException('x'), 'invalid-payload'],
    ['no status', new Error('x'), 'invalid-payload'],
    ['an error class of its own', new InvalidOrder('x'), 'invalid-payload'],
    ['another status', new NotFoundException('x'), 'error'],
    ['a system error', Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'error'],
  ] as const)('that throws %s', async (_what, error, reason) => {
    const queue = unique('throwing-pipe');
    let runs = 0;
    @Injectable()
    class Handler {
      @UsePipes(throwing(error))
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      handle(): void {
        runs += 1;
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason });
    expect(app.log.matching(/Own threw before the handler started/)).toHaveLength(1);
    expect(runs).toBe(0);
  });

  it('does not change what the handler throws: its own 400 is an error', async () => {
    const queue = unique('own-400');
    @Injectable()
    class Handler {
      @UsePipes(ValidationPipe)
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      handle(): void {
        throw new BadRequestException('refused by a partner');
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.decision).toEqual({ kind: 'deadLetter', reason: 'error' });
  });

  it('may be asynchronous, and may change the payload', async () => {
    const queue = unique('changing');
    const seen: unknown[] = [];
    const pipe: PipeTransform = {
      transform: async (value: { n: number }) => value.n + 1,
    };
    @Injectable()
    class Handler {
      @UsePipes(pipe)
      @Subscribe({ queue })
      handle(payload: unknown): void {
        seen.push(payload);
      }
    }
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, { n: 1 });
    await app.settled(1);
    expect(seen).toEqual([2]);
  });
});
