import { Injectable, type LoggerService, Module, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { describe, expect, it } from 'vitest';
import { SettleModule, SettleStartupError, Subscribe } from '../../../lib';
import { RecordingLogger } from '../fixtures';
import { start } from '../testing/app';

@Injectable()
class Billing {
  @Subscribe({ queue: 'billing' })
  charge(): void {}

  @Subscribe({ queue: 'refunds' })
  refund(): void {}
}

@Injectable()
class Mail {
  @Subscribe({ queue: 'mail' })
  send(): void {}
}

async function boot(metadata: ModuleMetadata): Promise<RecordingLogger> {
  const logger = new RecordingLogger();
  @Module(metadata)
  class AppModule {}
  const app = await NestFactory.createApplicationContext(AppModule, {
    logger: logger as LoggerService,
    abortOnError: false,
  });
  await app.close();
  return logger;
}

function settleLines({ lines }: RecordingLogger): string[] {
  return lines.filter(({ rest }) => rest.at(-1) === 'Settle').map(({ text }) => text);
}

@Module({ providers: [Mail], exports: [Mail] })
class MailModule {}

describe('an application without SettleModule', () => {
  it('is warned of once, with the classes that do not consume', async () => {
    const logger = await boot({ imports: [MailModule], providers: [Billing] });
    expect(settleLines(logger)).toEqual([
      expect.stringMatching(/^\[missing-module\] .*SettleModule\.forRoot/),
    ]);
    expect(logger.texts('warn')[0]).toMatch(/Billing/);
    expect(logger.texts('warn')[0]).toMatch(/Mail/);
  });

  it('is warned of each time one boots', async () => {
    for (let time = 0; time < 2; time += 1) {
      expect(settleLines(await boot({ providers: [Billing] }))).toHaveLength(1);
    }
  });

  it('is not warned of if none of its providers has a handler', async () => {
    expect(settleLines(await boot({}))).toEqual([]);
  });

  it('is not warned of in a unit test that only makes the class', async () => {
    const logger = new RecordingLogger();
    const module = await Test.createTestingModule({ providers: [Billing] })
      .setLogger(logger as LoggerService)
      .compile();
    expect(module.get(Billing)).toBeInstanceOf(Billing);
    expect(settleLines(logger)).toEqual([]);
  });
});

describe('SettleModule without forRoot', () => {
  it('is refused as the application is created', async () => {
    const booting = boot({ imports: [SettleModule], providers: [Billing] });
    await expect(booting).rejects.toThrow(SettleStartupError);
    await expect(boot({ imports: [SettleModule] })).rejects.toThrow(
      /SettleModule: expected forRoot\(\) or forRootAsync\(\)/,
    );
  });

  it('may stand in the imports of a feature module beside that of the root', async () => {
    @Module({ imports: [SettleModule] })
    class FeatureModule {}
    const logger = await boot({ imports: [SettleModule.forRoot(), FeatureModule] });
    expect(logger.texts('error')).toEqual([]);
  });
});

describe('a class with handlers that is in no module', () => {
  it('is named once at startup, if another one is provided or none', async () => {
    for (const providers of [[Billing], []]) {
      const logger = new RecordingLogger();
      await start({ providers, settle: { logger } });
      const lines = logger.texts('warn').filter((text) => text.startsWith('[unused-handlers]'));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain('Mail');
      expect(lines[0]?.includes('Billing')).toBe(providers.length === 0);
    }
  });

  it('is not one whose subclass is provided, whose provider has a token, or which a test has replaced', async () => {
    class Base {
      @Subscribe({ queue: 'base' })
      handle(): void {}
    }
    @Injectable()
    class Derived extends Base {}
    @Injectable()
    class Tokened {
      @Subscribe({ queue: 'tokened' })
      handle(): void {}
    }
    @Injectable()
    class Made {
      @Subscribe({ queue: 'made' })
      handle(): void {}
    }
    @Injectable()
    class Replaced {
      @Subscribe({ queue: 'replaced' })
      handle(): void {}
    }
    const logger = new RecordingLogger();
    await start({
      providers: [
        Derived,
        { provide: 'token', useClass: Tokened },
        { provide: 'factory', useFactory: () => new Made() },
        { provide: Replaced, useValue: {} },
      ],
      settle: { logger },
    });
    const text = logger.texts('warn').join('\n');
    expect(text).toMatch(/Billing/);
    for (const name of ['Base', 'Derived', 'Tokened', 'Made', 'Replaced']) {
      expect(text).not.toContain(name);
    }
  });
});
