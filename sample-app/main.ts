import { ConsoleLogger, type INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { SubscriptionRegistry } from 'nestjs-settle';
import { SettleTest } from 'nestjs-settle/testing';
import { serve } from './serve';
import { Showcase } from './showcase';
import { ShowcaseModule } from './showcase.module';

/** The settlements are printed; log lines would repeat them. */
const logger = new ConsoleLogger({ logLevels: ['fatal'] });

async function main(): Promise<void> {
  // nest start passes parameters on in quotes.
  if (process.argv.some((one) => one.includes('--serve')))
    return serve(process.env['RABBITMQ_URL']);
  const app = await start(process.env['RABBITMQ_URL']);
  app.enableShutdownHooks();
  await app.get(SubscriptionRegistry, { strict: false }).started;
  try {
    const isShown = await app.get(Showcase).run();
    if (!isShown)
      return console.log(
        '\nShutting down: running handlers finish, other messages stay in their queues.',
      );
  } catch (error) {
    fail(error);
  }
  await app.close();
}

/** The same modules on a server, or on the in-memory broker of the testing kit. */
async function start(url: string | undefined): Promise<INestApplicationContext> {
  if (url !== undefined) {
    console.log('On the RabbitMQ server of RABBITMQ_URL.\n');
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
