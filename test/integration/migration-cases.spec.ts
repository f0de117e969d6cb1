import {
  AmqpConnection,
  MessageHandlerErrorBehavior,
  RabbitRPC,
  RabbitSubscribe,
} from '@golevelup/nestjs-rabbitmq';
import {
  type ArgumentsHost,
  Catch,
  type ExceptionFilter,
  Injectable,
  UseFilters,
  ValidationPipe,
} from '@nestjs/common';
import { IsInt } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { ack, Delivery, type Outcome, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { until } from '../support/eventually';

// What services around @RabbitSubscribe have, and how they move without losing a message: the cases of
// docs/migration-golevelup.md.

const broker = await openBroker();

class Order {
  @IsInt()
  id!: number;
}

describe('a global ValidationPipe', () => {
  async function started(options: ConstructorParameters<typeof ValidationPipe>[0]) {
    const queue = unique('validated');
    const payloads: unknown[] = [];
    @Injectable()
    class Billing {
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      async charge(order: Order): Promise<void> {
        payloads.push({ ...order });
      }
    }
    const app = await startApp({
      providers: [Billing],
      prepare: (one) => one.useGlobalPipes(new ValidationPipe(options)),
    });
    return { app, queue, payloads };
  }

  it('also applies to an undecorated payload: whitelist removes other properties', async () => {
    const { queue, payloads } = await started({ whitelist: true });
    await broker.send(queue, { id: 1, extra: true });
    await until(() => payloads.length === 1);
    expect(payloads).toEqual([{ id: 1 }]);
  });

  it('dead-letters what it refuses, so that deadLetter keeps every message', async () => {
    const { app, queue, payloads } = await started({
      whitelist: true,
      forbidNonWhitelisted: true,
    });
    await broker.send(queue, { id: 1, extra: true });
    await broker.send(queue, { id: 'x' });
    const [one, two] = await app.settled(2);
    expect([one?.decision, two?.decision]).toEqual([
      { kind: 'deadLetter', reason: 'invalid-payload' },
      { kind: 'deadLetter', reason: 'invalid-payload' },
    ]);
    await broker.waitForReady(`${queue}.dead`, 2);
    expect(payloads).toEqual([]);
  });
});

describe('a filter that publishes failed messages again by itself', () => {
  it('returns ack() after it has published, so that the message is there once', async () => {
    const [queue, parking] = [unique('filtered'), unique('parking')];
    await broker.declare(parking);
    @Catch()
    @Injectable()
    class Republish implements ExceptionFilter {
      constructor(private readonly amqp: AmqpConnection) {}

      async catch(_error: unknown, host: ArgumentsHost): Promise<Outcome> {
        const [payload] = host.getArgs();
        await this.amqp.publish('', parking, payload);
        return ack();
      }
    }
    @Injectable()
    class Billing {
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      @UseFilters(Republish)
      async charge(_order: Order): Promise<void> {
        throw new Error('no answer');
      }
    }
    const app = await startApp({ providers: [Billing, Republish] });
    await broker.send(queue, { id: 1 });
    const [settlement] = await app.settled(1);
    expect(settlement).toMatchObject({ decision: { kind: 'ack' }, status: 'sent' });
    await broker.waitForReady(parking, 1);
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
  });
});

describe('messages that came through a delayed exchange', () => {
  it('keep x-delay when they are retried, and wait only as long as the retry says', async () => {
    const queue = unique('delayed');
    const seen: unknown[] = [];
    @Injectable()
    class Billing {
      @Subscribe({ queue, retry: { attempts: 2 }, deadLetter: `${queue}.dead`, onError: 'retry' })
      async charge(_order: Order, @Delivery() delivery: Delivery): Promise<void> {
        seen.push([delivery.attempt, delivery.headers['x-delay']]);
        if (delivery.attempt === 1) throw new Error('no answer');
      }
    }
    const app = await startApp({ providers: [Billing] });
    // The plugin leaves the header as it was, or negated once the delay is over.
    await broker.send(queue, { id: 1 }, { headers: { 'x-delay': -60_000 } });
    await app.settled(2);
    expect(seen).toEqual([
      [1, -60_000],
      [2, -60_000],
    ]);
  });
});

describe('options of @RabbitSubscribe that @Subscribe refuses', () => {
  it.each([
    ['errorHandler', { errorHandler: () => undefined }, /use instead: onError/],
    ['errorBehavior', { errorBehavior: MessageHandlerErrorBehavior.ACK }, /'skip' instead of ACK/],
    ['batchOptions', { batchOptions: { size: 2 } }, /batch: { size, wait }/],
  ])('%s is named at startup with what replaces it', async (_option, options, hint) => {
    const queue = unique('refused');
    @Injectable()
    class Billing {
      @Subscribe({ queue, ...options })
      async charge(): Promise<void> {}
    }
    await expect(startApp({ providers: [Billing] })).rejects.toThrow(hint);
    expect(await broker.ready(queue)).toBeUndefined();
  });
});

describe('handlers that stay with golevelup', () => {
  it('take batches and answer RPC beside @Subscribe in one class', async () => {
    const [exchange, batches, asks, single] = [
      unique('beside'),
      unique('batches'),
      unique('asks'),
      unique('single'),
    ];
    const seen: unknown[] = [];
    @Injectable()
    class Mixed {
      @RabbitSubscribe({ queue: batches, batchOptions: { size: 2, timeout: 50 } })
      async many(payloads: unknown[]): Promise<void> {
        seen.push(['many', payloads]);
      }

      @RabbitRPC({ exchange, routingKey: 'ask', queue: asks })
      async ask({ n }: { n: number }): Promise<number> {
        return n + 1;
      }

      @Subscribe({ queue: single })
      async one(payload: unknown): Promise<void> {
        seen.push(['one', payload]);
      }
    }
    const { app } = await startApp({
      providers: [Mixed],
      rabbit: { exchanges: [{ name: exchange, type: 'direct' }], enableDirectReplyTo: true },
    });
    await broker.send(batches, 1);
    await broker.send(batches, 2);
    await broker.send(single, 3);
    const amqp = app.get(AmqpConnection);
    const answer = await amqp.request({ exchange, routingKey: 'ask', payload: { n: 41 } });
    expect(answer).toBe(42);
    await until(() => seen.length === 2);
    expect(seen).toContainEqual(['many', [1, 2]]);
    expect(seen).toContainEqual(['one', 3]);
  });
});
