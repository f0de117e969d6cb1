import {
  type DynamicModule,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';

const OTHERS = ['global', 'inner', 'innermost', 'root'] as const;

describe.each(['imports', 'importsBefore'] as const)('modules in %s', async (place) => {
  const broker = await openBroker();

  it('are initialised before consuming starts, and destroyed after it has stopped', async () => {
    const queue = unique('order');
    await broker.declare(queue);
    await broker.send(queue, 1);
    const order: string[] = [];
    const finish = new Gate();

    class Hooks implements OnApplicationBootstrap, OnModuleDestroy {
      constructor(private readonly name: string) {}

      async onApplicationBootstrap(): Promise<void> {
        // Long enough for a message to be handled if it is consumed too early.
        await new Promise((resolve) => setTimeout(resolve, 300));
        order.push(`${this.name} booted`);
      }

      async onModuleDestroy(): Promise<void> {
        order.push(`${this.name} destroyed beside ${await broker.consumers(queue)} consumers`);
      }
    }

    function hooked(name: string, more: Partial<DynamicModule> = {}): DynamicModule {
      @Module({})
      class Hooked {}
      const provider = { provide: name, useValue: new Hooks(name) };
      return { module: Hooked, providers: [provider], ...more };
    }

    @Injectable()
    class Handler {
      @Subscribe({ queue })
      async handle(): Promise<void> {
        order.push('started');
        await finish.promise;
        order.push('ended');
      }
    }
    const app = await startApp({
      providers: [Handler, { provide: 'root', useValue: new Hooks('root') }],
      [place]: [
        hooked('inner', { imports: [hooked('innermost')] }),
        hooked('global', { global: true }),
      ],
    });
    await until(() => order.includes('started'));
    const closed = app.close();
    await until(async () => (await broker.consumers(queue)) === 0);
    finish.open();
    await closed;
    const [booted, inBetween, destroyed] = [order.slice(0, 4), order.slice(4, 6), order.slice(6)];
    expect(booted.sort()).toEqual(OTHERS.map((name) => `${name} booted`));
    expect(inBetween).toEqual(['started', 'ended']);
    expect(destroyed.sort()).toEqual(OTHERS.map((name) => `${name} destroyed beside 0 consumers`));
  });
});
