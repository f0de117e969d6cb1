import { NestFactory } from '@nestjs/core';
import { SubscriptionRegistry } from 'nestjs-settle';
import { ShopModule } from './shop.module';
import { Showcase } from './showcase';

async function main(): Promise<void> {
  // The settlements are printed; log lines would say the same again.
  const app = await NestFactory.createApplicationContext(ShopModule, {
    logger: ['fatal'],
    abortOnError: false,
  });
  app.enableShutdownHooks();
  await app.get(SubscriptionRegistry).started;
  try {
    const isShown = await app.get(Showcase).run();
    if (!isShown) return console.log('\nStopping: begun messages are finished, the others stay.');
  } catch (error) {
    fail(error);
  }
  await app.close();
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

main().catch(fail);
