import { once } from 'node:events';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { describe, expect, it } from 'vitest';
import { Panic, type SubscribeOptions } from '../../lib';
import { SettleHealthIndicator } from '../../lib/terminus';
import { openBroker, startApp, unique } from '../support/environment';
import { Gate, until } from '../support/eventually';
import { type Body, handlerOf } from '../support/handlers';

const OTHERS = /^other/;

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly settle: SettleHealthIndicator,
  ) {}

  @Get('ready')
  @HealthCheck()
  ready() {
    return this.health.check([() => this.settle.ready('subscriptions')]);
  }

  @Get('ready-others')
  @HealthCheck()
  readyOthers() {
    const filter = ({ queue }: { queue: string | undefined }): boolean => OTHERS.test(queue ?? '');
    return this.health.check([() => this.settle.ready('others', { filter })]);
  }

  @Get('alive')
  @HealthCheck()
  alive() {
    return this.health.check([() => this.settle.alive('process', { stuckAfter: 100 })]);
  }

  @Get('alive-anyway')
  @HealthCheck()
  aliveAnyway() {
    return this.health.check([() => this.settle.alive('process')]);
  }
}

describe('SettleHealthIndicator', async () => {
  const broker = await openBroker();

  async function start(options: SubscribeOptions, body: Body = () => undefined, settle = {}) {
    const Handler = handlerOf(options, body);
    const app = await startApp({
      imports: [TerminusModule.forRoot({ logger: false, gracefulShutdownTimeoutMs: 0 })],
      providers: [Handler, SettleHealthIndicator],
      controllers: [HealthController],
      settle: { shutdownTimeout: 200, abortGracePeriod: 0, ...settle },
      wait: false,
    });
    const address = await listen(app.app);
    const check = async (path: string) => {
      const response = await fetch(`${address}/health/${path}`);
      const { details } = (await response.json()) as { details: Record<string, never> };
      return { code: response.status, details };
    };
    return { ...app, Handler, check };
  }

  async function listen(app: INestApplication): Promise<string> {
    const server = app.getHttpServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${server.address().port}`;
  }

  it('is ready while it consumes, is paused by an operator, or consumes again', async () => {
    const queue = unique('ready');
    const { check, registry, Handler } = await start({ queue });
    await registry.started;
    const one = { handler: 'Handler.handle', queue, inFlight: 0, waiting: 0 };
    const consuming = { ...one, state: 'consuming' };
    const ready = await check('ready');
    expect(ready).toMatchObject({
      code: 200,
      details: { subscriptions: { status: 'up', subscriptions: [consuming] } },
    });
    await registry.pause(Handler, 'handle');
    const paused = await check('ready');
    expect(paused).toMatchObject({
      code: 200,
      details: {
        subscriptions: { subscriptions: [{ ...one, state: 'paused', cause: 'operator' }] },
      },
    });
    expect(paused.details['subscriptions']).not.toHaveProperty('degraded');
  });

  it('is not ready while RabbitMQ refuses a subscription, but alive', async () => {
    const queue = unique('refused');
    await broker.declare(queue, { arguments: { 'x-queue-type': 'quorum' } });
    const { check, registry, Handler } = await start({ queue }, undefined, {
      onRefused: 'continue',
    });
    await until(() => registry.get(Handler, 'handle').state === 'refused');
    expect(await check('ready')).toMatchObject({
      code: 503,
      details: {
        subscriptions: {
          status: 'down',
          subscriptions: [{ queue, state: 'refused', lastError: expect.any(String) }],
        },
      },
    });
    expect(await check('alive')).toMatchObject({ code: 200 });
    // What does not count is not looked at.
    expect(await check('ready-others')).toMatchObject({
      code: 200,
      details: { others: { status: 'up', subscriptions: [] } },
    });
  });

  it('is degraded and, where it is limited, not alive while a delivery is stuck', async () => {
    const queue = unique('stuck');
    const end = new Gate();
    const { check, registry, settled } = await start({ queue, stuckAfter: 50 }, () => end.promise);
    await broker.send(queue, {}, { messageId: 'one' });
    await until(() => registry.inFlight().some(({ isStuck, ageMs }) => isStuck && ageMs >= 100));
    const stuck = [{ handler: 'Handler.handle', queue, messageId: 'one', attempt: 1, seconds: 0 }];
    const ready = await check('ready');
    expect(ready).toMatchObject({
      code: 200,
      details: {
        subscriptions: { degraded: true, stuck: [{ ...stuck[0], seconds: expect.any(Number) }] },
      },
    });
    expect(await check('alive')).toMatchObject({
      code: 503,
      details: { process: { status: 'down', stuck: [{ messageId: 'one' }] } },
    });
    expect(await check('alive-anyway')).toMatchObject({ code: 200 });
    end.open();
    await settled(1);
    expect(await check('alive')).toMatchObject({ code: 200 });
    expect((await check('ready')).details['subscriptions']).not.toHaveProperty('degraded');
  });

  it('is neither ready nor alive once the policy failFast shuts it down', async () => {
    const queue = unique('failing-fast');
    const { check, failed } = await start({ queue }, () => {
      throw new Panic('a bug');
    });
    expect(await check('alive')).toMatchObject({ code: 200 });
    await broker.send(queue, {});
    await until(() => failed.length === 1);
    expect(await check('alive')).toMatchObject({
      code: 503,
      details: { process: { status: 'down', failFast: true } },
    });
    expect(await check('ready')).toMatchObject({
      code: 503,
      details: { subscriptions: { subscriptions: [{ state: 'stopped' }] } },
    });
  });
});
