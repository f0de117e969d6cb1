import type { CanActivate, ExecutionContext, INestApplication } from '@nestjs/common';
import {
  ConsoleLogger,
  Injectable,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { TestingModule, TestingModuleBuilder } from '@nestjs/testing';
import { SettleConsoleModule } from 'nestjs-settle/console';
import { SettleTest } from 'nestjs-settle/testing';
import { Bank } from './bank';
import { Orders } from './orders';
import { ShopModule } from './shop.module';
import { stories } from './stories';

/** Log lines are not what is shown. */
const silent = new ConsoleLogger({ logLevels: ['fatal'] });

/** How often an order is published, in ms. */
const INTERVAL = 250;

/** Lets this machine in; an application of yours would ask for an administrator. */
@Injectable()
class LocalGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ socket: { remoteAddress?: string } }>();
    return /^(127\.|::1$|::ffff:127\.)/.test(request.socket.remoteAddress ?? '');
  }
}

/** Publishes an order after the other, mostly good ones, so that there is something to see. */
@Injectable()
class Traffic implements OnApplicationBootstrap, OnModuleDestroy {
  #timer: NodeJS.Timeout | undefined;
  #published = 0;

  constructor(
    private readonly orders: Orders,
    private readonly bank: Bank,
  ) {}

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => this.#publish(), INTERVAL);
  }

  onModuleDestroy(): void {
    clearInterval(this.#timer);
  }

  #publish(): void {
    this.#published += 1;
    const isGood = this.#published % 3 > 0;
    const story = stories[isGood ? 0 : Math.floor(Math.random() * stories.length)];
    if (story === undefined) return;
    const { event, order, bankIsClosed = false } = story;
    if (bankIsClosed) this.bank.close();
    void this.orders.publish(event, order).catch(() => undefined);
  }
}

@Module({
  imports: [
    ShopModule,
    SettleConsoleModule.forRoot({
      guards: [LocalGuard],
      allow: ['replay', 'discard', 'pause'],
      showPayload: true,
    }),
  ],
  providers: [Traffic],
})
class ServedModule {}

/** Serves the shop with the console until a signal stops it. */
export async function serve(url: string | undefined): Promise<void> {
  const app = await (url === undefined ? inMemory() : onServer());
  // It ends with 0 on Ctrl+C, as asked.
  app.enableShutdownHooks([], { useProcessExit: true });
  await app.listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1');
  console.log(`The console: ${await app.getUrl()}/settle (Ctrl+C stops the sample)`);
}

function onServer(): Promise<INestApplication> {
  return NestFactory.create(ServedModule, { logger: false, abortOnError: false });
}

async function inMemory(): Promise<INestApplication> {
  let app: INestApplication | undefined;
  // The testing kit starts what the builder compiles: here an application with an HTTP server.
  const withServer = (builder: TestingModuleBuilder): void => {
    const compile = builder.compile.bind(builder);
    builder.compile = async () => {
      const module = await compile();
      app = module.createNestApplication({ logger: false });
      return app as unknown as TestingModule;
    };
  };
  await SettleTest.create({ imports: [ServedModule] }, { clock: 'real' })
    .override((builder) => builder.setLogger(silent))
    .override(withServer)
    .compile();
  if (app === undefined) throw new Error('The testing kit has not compiled the application');
  return app;
}
