import {
  type ArgumentsHost,
  BadRequestException,
  Catch,
  type ExceptionFilter,
  Injectable,
  UseFilters,
} from '@nestjs/common';
import { APP_FILTER } from '@nestjs/core';
import { describe, expect, it } from 'vitest';
import { ack, drop, Panic, retryAfter, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import type { AcknowledgedOptions } from '../support/handlers';

type Catching = (error: unknown, host: ArgumentsHost) => unknown;

describe.each(['classic', 'quorum'] as const)(
  'an exception filter on a %s queue',
  async (queueType) => {
    const broker = await openBroker();

    /** Starts a handler that fails, with a filter on its method. */
    async function filtered(
      catching: Catching,
      { error = new Error('failed') as unknown, more = {} as Partial<AcknowledgedOptions> } = {},
    ) {
      const queue = unique('filtered');
      @Catch()
      class Named implements ExceptionFilter {
        catch(caught: unknown, host: ArgumentsHost): unknown {
          return catching(caught, host);
        }
      }
      @Injectable()
      class Handler {
        @UseFilters(Named)
        @Subscribe({ queue, queueType, ...more })
        handle(): void {
          throw error;
        }
      }
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { messageId: 'm1' });
      const [settlement] = await app.settled(1);
      return { app, queue, settlement: settlement! };
    }

    it.each<[what: string, catching: Catching, decision: string]>([
      ['ack()', () => ack(), 'ack'],
      ['drop()', () => drop(), 'reject'],
      ['a promise of ack()', async () => ack(), 'ack'],
      ['retryAfter()', () => retryAfter(60_000), 'republish'],
    ])('may return an outcome, which is carried out: %s', async (_what, catching, decision) => {
      const { settlement } = await filtered(catching);
      expect(settlement.decision.kind).toBe(decision);
      expect(settlement.error).toBeUndefined();
    });

    it('may throw an outcome, which is carried out', async () => {
      const { settlement } = await filtered(() => {
        throw ack();
      });
      expect(settlement.decision.kind).toBe('ack');
    });

    it.each<[what: string, catching: Catching]>([
      ['nothing', () => undefined],
      ['a response', () => ({ statusCode: 500 })],
      ['true', () => true],
      ['a promise of nothing', async () => undefined],
      ['a promise of a response', async () => ({ statusCode: 500 })],
    ])(
      'does not turn an error into an acknowledgement by returning %s',
      async (_what, catching) => {
        const { settlement } = await filtered(catching);
        expect(settlement.decision.kind).toBe('reject');
        expect(settlement.error).toHaveProperty('message', 'failed');
      },
    );

    it.each<[what: string, catching: Catching]>([
      [
        'throws',
        () => {
          throw new Error('from the filter');
        },
      ],
      ['rejects', () => Promise.reject(new Error('from the filter'))],
    ])('that %s causes an error for onError, and is named in the log', async (_what, catching) => {
      const { app, settlement } = await filtered(catching);
      expect(settlement.decision.kind).toBe('reject');
      expect(app.failed).toEqual([]);
      expect(app.log.matching(/Named threw after the handler started/)).toHaveLength(1);
    });

    it('that throws a TypeError, as for a missing response, causes a panic', async () => {
      const { app, settlement } = await filtered((_error, host) =>
        host.switchToHttp().getResponse().status(500).json({}),
      );
      expect(settlement.decision.kind).toBe('leaveUnsettled');
      expect(settlement.error).toBeInstanceOf(TypeError);
      await app.close();
      expect(app.failed).toHaveLength(1);
    });

    it('does not hide a panic by throwing another error', async () => {
      const catching = () => {
        throw new Error('translated');
      };
      const { settlement } = await filtered(catching, { error: new Panic('bug') });
      expect(settlement.decision.kind).toBe('leaveUnsettled');
      expect(settlement.error).toHaveProperty('message', 'bug');
    });

    it('sees the context type rmq, the payload and the delivery', async () => {
      let seen: unknown[] = [];
      await filtered((_error, host) => {
        const [payload, message, headers, delivery] = host.getArgs();
        seen = [host.getType(), payload, message.fields.exchange, headers, delivery.attempt];
      });
      expect(seen).toEqual(['rmq', {}, '', {}, 1]);
    });

    it('does not receive thrown outcomes', async () => {
      const { settlement } = await filtered(() => ({ statusCode: 500 }), { error: ack() });
      expect(settlement.decision.kind).toBe('ack');
    });
  },
);

describe('a global filter', async () => {
  const broker = await openBroker();

  @Catch()
  class Everything implements ExceptionFilter {
    catch(): unknown {
      return { statusCode: 500 };
    }
  }

  it.each([
    ['APP_FILTER', [{ provide: APP_FILTER, useClass: Everything }], undefined],
    ['useGlobalFilters', [], new Everything()],
  ] as const)('of %s turns no error into an acknowledgement', async (_how, providers, instance) => {
    const queue = unique('global-filter');
    @Injectable()
    class Handler {
      @Subscribe({ queue, deadLetter: `${queue}.dead` })
      handle(payload: { status?: number }): void {
        if (payload.status === 400) throw new BadRequestException('from the body');
        throw new Error('failed');
      }
    }
    const app = await startApp({
      providers: [Handler, ...providers],
      prepare: (nest) => {
        if (instance !== undefined) nest.useGlobalFilters(instance);
      },
    });
    await broker.send(queue, {});
    await broker.send(queue, { status: 400 });
    const settlements = await app.settled(2);
    for (const { decision } of settlements) {
      expect(decision).toEqual({ kind: 'deadLetter', reason: 'error' });
    }
  });
});
