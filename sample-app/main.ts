import { ConsoleLogger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SubscriptionRegistry } from 'nestjs-settle';
import { SettleTest } from 'nestjs-settle/testing';
import { Showcase } from './showcase';
import { ShowcaseModule } from './showcase.module';

/** The settlements are printed; log lines would say the same again. */
const logger = new ConsoleLogger({ logLevels: ['fatal'] });

async function main(): Promise<void> {
  const app = await start(process.env['RABBITMQ_URL']);
  app.enableShutdownHooks();
  await app.get(SubscriptionRegistry, { strict: false }).started;
  try {
    const isShown = await app.get(Showcase).run();
    if (!isShown) return console.log('\nStopping: begun messages are finished, the others stay.');
  } catch (error) {
    fail(error);
  }
  await app.close();
}

/** The same modules on a server, or without one on the broker of the testing kit. */
async function start(url: string | undefined): Promise<INestApplicationContext> {
  if (url !== undefined) {
    console.log('On the RabbitMQ server that RABBITMQ_URL names.\n');
    return NestFactory.createApplicationContext(ShowcaseModule, { logger, abortOnError: false });
  }
  console.log('On the in-memory broker, since RABBITMQ_URL is not set.\n');
  const { module } = await SettleTest.create({ imports: [ShowcaseModule] }, { clock: 'real' })
    .override((builder) => builder.setLogger(logger))
    .compile();
  return module;
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

main().catch(fail);
