import { Module, type OnApplicationShutdown, type OnModuleDestroy } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { expect, it } from 'vitest';
import { systemClock } from '../../../lib/clock';
import { RunningApplication } from '../../../lib/nest/running-application';
import { CLOCK } from '../../../lib/nest/tokens';

const calls: string[] = [];

class Hooks implements OnModuleDestroy, OnApplicationShutdown {
  onModuleDestroy(): void {
    calls.push('onModuleDestroy');
  }

  onApplicationShutdown(): void {
    calls.push('onApplicationShutdown');
  }
}

@Module({
  providers: [Hooks, RunningApplication, { provide: CLOCK, useValue: systemClock }],
})
class AppModule {}

it('closes an application without a server, and the microservices of a hybrid one', async () => {
  calls.length = 0;
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  app.get(ModulesContainer).addRpcTarget({
    close: async () => {
      calls.push('microservice');
    },
  });
  const running = app.get(RunningApplication);
  expect(running.isClosing).toBe(false);
  await running.close();
  expect(calls).toEqual(['onModuleDestroy', 'microservice', 'onApplicationShutdown']);
  expect(running.isClosing).toBe(true);
});

it('detects a close that was started elsewhere', async () => {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
  const running = app.get(RunningApplication);
  const closing = app.close();
  await new Promise(setImmediate);
  expect(running.isClosing).toBe(true);
  await closing;
});
