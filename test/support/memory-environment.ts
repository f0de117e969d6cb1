import type { INestApplication, ModuleMetadata, Type } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { MemoryTestBroker } from '../../lib/testing/memory-test-broker';
import type { Environment } from './environment';
import { silentLogger } from './log-recorder';
import { MemoryClient } from './memory-client';
import { startAppOn } from './start-app';

const VERSION = [4, 3] as const;
const url = 'amqp://memory.invalid';

// One server for a test file, as on RabbitMQ: several applications of a test share it.
const broker = new MemoryTestBroker('real', VERSION);

function testingModule(metadata: ModuleMetadata): TestingModuleBuilder {
  const builder = Test.createTestingModule(metadata);
  broker.prepare(builder);
  return builder;
}

async function createApp(module: Type): Promise<INestApplication> {
  const compiled = await testingModule({ imports: [module] })
    .setLogger(silentLogger)
    .compile();
  return compiled.createNestApplication({ abortOnError: false });
}

/** The in-memory broker of the testing kit, on the real clock. */
export const environment: Environment = {
  version: `${VERSION.join('.')}.0`,
  url,
  startApp: (parts) => startAppOn({ rabbit: { uri: url }, create: createApp }, parts),
  createApp,
  testingModule,
  openBroker: async () => new MemoryClient(broker.server),
};
