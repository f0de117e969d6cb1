import { RabbitPayload } from '@golevelup/nestjs-rabbitmq';
import {
  type INestApplication,
  Injectable,
  ParseIntPipe,
  type Type,
  UsePipes,
  ValidationPipe,
} from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Delivery, Subscribe } from '../../lib';
import { startApp, unique } from '../support/environment';

describe('a global pipe', () => {
  const queue = () => unique('global-pipes');

  @Injectable()
  class Undecorated {
    @Subscribe({ queue: queue() })
    handle(_order: object): void {}
  }

  @Injectable()
  class BesideOthers {
    @Subscribe({ queue: queue() })
    handle(_order: object, @Delivery() _delivery: Delivery): void {}
  }

  @Injectable()
  class Decorated {
    @Subscribe({ queue: queue() })
    handle(@RabbitPayload() _order: object): void {}
  }

  @Injectable()
  class WithoutParameters {
    @Subscribe({ queue: queue() })
    handle(): void {}
  }

  @Injectable()
  class OwnPipe {
    @UsePipes(ParseIntPipe)
    @Subscribe({ queue: queue() })
    handle(_id: number): void {}
  }

  async function linesOf(Handler: Type, prepare: (app: INestApplication) => void) {
    const { log } = await startApp({ providers: [Handler], prepare });
    return log.lines.filter(({ text }) => text.includes('[global-pipes]'));
  }

  it.each([Undecorated, BesideOthers])(
    'that applies to an undecorated payload is logged at startup: %o',
    async (Handler) => {
      const lines = await linesOf(Handler, (app) => app.useGlobalPipes(new ValidationPipe()));
      expect(lines).toMatchObject([
        { level: 'log', text: expect.stringContaining('ValidationPipe') },
      ]);
    },
  );

  it.each([Decorated, WithoutParameters])('is not logged for %o', async (Handler) => {
    expect(await linesOf(Handler, (app) => app.useGlobalPipes(new ValidationPipe()))).toEqual([]);
  });

  it('is what the line is about: a pipe of the method is written there on purpose', async () => {
    expect(await linesOf(OwnPipe, () => undefined)).toEqual([]);
    expect(await linesOf(Undecorated, () => undefined)).toEqual([]);
  });
});
