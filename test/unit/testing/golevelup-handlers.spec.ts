import { RabbitRPC, RabbitSubscribe } from '@golevelup/nestjs-rabbitmq';
import { Controller, Injectable, type Type } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../../lib';
import { type AppParts, start } from './app';

@Injectable()
class Moved {
  @Subscribe({ queue: 'billing' })
  handle(): void {}
}

type Options = Parameters<typeof RabbitSubscribe>[0];

function left(options: Options, Decorate = RabbitSubscribe): Type {
  @Injectable()
  class Left {
    @Decorate(options)
    async handle(): Promise<void> {}
  }
  return Left;
}

const shared = /Moved\.handle: queue "billing" is also consumed by Left\.handle/;

describe('a handler of golevelup on the queue of a subscription', () => {
  it.each<[how: string, parts: AppParts]>([
    ['by @RabbitSubscribe', { providers: [Moved, left({ queue: 'billing' })] }],
    ['by @RabbitRPC', { providers: [Moved, left({ queue: 'billing' }, RabbitRPC)] }],
    [
      'on the connection by name',
      { providers: [Moved, left({ queue: 'billing', connection: 'default' })] },
    ],
    [
      'by an entry of handlers',
      {
        providers: [Moved, left({ queue: 'other', name: 'left' })],
        rabbit: { handlers: { left: [{ queue: 'a' }, { queue: 'billing' }] } },
      },
    ],
    [
      'by the decorator, beside an entry without a queue',
      {
        providers: [Moved, left({ queue: 'billing', name: 'left' })],
        rabbit: { handlers: { left: { routingKey: 'x' } } },
      },
    ],
    [
      'of one of two classes of the same name',
      { providers: [Moved, left({ queue: 'billing' }), left({ queue: 'other' })] },
    ],
  ])('%s is refused at startup', async (_how, parts) => {
    await expect(start(parts)).rejects.toThrow(shared);
  });

  it('in a controller is refused if the connection registers controllers', async () => {
    @Controller()
    class Left {
      @RabbitSubscribe({ queue: 'billing' })
      async handle(): Promise<void> {}
    }
    const parts = { providers: [Moved], controllers: [Left] };
    await expect(start({ ...parts, rabbit: { enableControllerDiscovery: true } })).rejects.toThrow(
      shared,
    );
    await start(parts);
  });

  it.each<[how: string, parts: AppParts]>([
    ['on another queue', { providers: [Moved, left({ queue: 'other' })] }],
    ['on another connection', { providers: [Moved, left({ queue: 'billing', connection: 'b' })] }],
    [
      'whose name has no entry in handlers',
      { providers: [Moved, left({ queue: 'billing', name: 'x' })] },
    ],
    [
      'whose entry in handlers has another queue',
      {
        providers: [Moved, left({ queue: 'billing', name: 'left' })],
        rabbit: { handlers: { left: { queue: 'other' } } },
      },
    ],
  ])('%s is not', async (_how, parts) => {
    await start(parts);
  });
});
