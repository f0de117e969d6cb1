import { afterAll, describe, expect, it } from 'vitest';
import { linear, retryAfter, SettleStartupError, type SubscribeOptions } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';
import { itOn, serverVersion } from '../support/versions';

describe('a subscription that RabbitMQ refuses', async () => {
  const broker = await openBroker();

  /** An application with a refused subscription, `Refused`, and one that works. */
  async function start(options: SubscribeOptions, onRefused?: 'fail' | 'continue') {
    const fine = unique('fine');
    const [Refused, Fine] = [
      handlerOf(options, () => undefined),
      handlerOf({ queue: fine }, () => undefined),
    ];
    const app = await startApp({
      providers: [Refused, { provide: 'fine', useClass: Fine }],
      settle: onRefused === undefined ? {} : { onRefused },
      wait: false,
    });
    return { app, fine, Refused };
  }

  async function isRefused(options: SubscribeOptions, found: RegExp): Promise<void> {
    const { app, fine, Refused } = await start(options, 'continue');
    const status = app.registry.get(Refused, 'handle');
    expect(status.state).toBe('refused');
    expect(status.lastError?.message).toMatch(found);
    await broker.send(fine, {});
    await app.settled(1);
  }

  async function otherArguments(): Promise<string> {
    const queue = unique('other-arguments');
    await broker.declare(queue, { arguments: { 'x-max-length': 5 } });
    await broker.send(queue, 'kept');
    return queue;
  }

  it('with other arguments fails the startup by default: one readable error, nothing deleted', async () => {
    const queue = await otherArguments();
    const error: unknown = await start({ queue }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SettleStartupError);
    expect((error as SettleStartupError).errors).toHaveLength(1);
    expect((error as Error).message).toMatch(
      new RegExp(
        `^Handler\\.handle: RabbitMQ refused to declare or consume queue "${queue}": .*x-max-length`,
      ),
    );
    expect(await broker.ready(queue)).toBe(1);
    expect(await broker.consumers(queue)).toBe(0);
  });

  it("with onRefused: 'continue' is reported while the others consume", async () => {
    const queue = await otherArguments();
    const { app, fine, Refused } = await start({ queue }, 'continue');
    const status = app.registry.get(Refused, 'handle');
    expect(status.state).toBe('refused');
    expect(status.lastError?.message).toContain('x-max-length');
    await expect(app.registry.started).rejects.toThrow(SettleStartupError);
    await expect(app.registry.started).rejects.toThrow(queue);
    await broker.send(fine, {});
    await app.settled(1);
    expect(
      app.log.matching(/\[refused\] RabbitMQ refused to declare or consume/, ['error']).length,
    ).toBeGreaterThan(0);
    expect(await broker.ready(queue)).toBe(1);
    // Corrected by hand, it consumes without a restart.
    await broker.delete(queue);
    await until(() => app.registry.get(Refused, 'handle').state === 'consuming');
  });

  it.each<[what: string, options: () => SubscribeOptions, found: RegExp]>([
    [
      'a missing exchange',
      () => ({ queue: unique('q'), exchange: 'no.such', routingKey: 'a' }),
      /no exchange 'no\.such'/,
    ],
    ['a missing queue', () => ({ queue: unique('q'), createQueueIfNotExists: false }), /no queue/],
    [
      'a missing queue, with declare: false',
      () => ({ queue: unique('q'), declare: false }),
      /no queue/,
    ],
    [
      'a missing dead-letter queue that is not declared',
      () => ({ queue: unique('q'), deadLetter: 'no.dead', declare: { deadLetter: false } }),
      /no queue 'no\.dead'/,
    ],
    ['a reserved name', () => ({ queue: 'amq.reserved' }), /reserved|amq\./],
  ])('because of %s', (_what, options, found) => isRefused(options(), found));

  itOn({ before: '4.3', because: 'later ones have delayed retries' })(
    'because the server is too old for delayed retries',
    async () => {
      const release = serverVersion.split('.').slice(0, 2).join('.');
      await isRefused(
        {
          queue: unique('q'),
          queueType: 'quorum',
          retry: { attempts: 3, by: 'broker', backoff: linear('1s', { max: '5s' }) },
        },
        new RegExp(`needs RabbitMQ 4\\.3 or later; found ${release}`),
      );
    },
  );

  it('without permission to declare reports it; with declare: false it consumes', async () => {
    const queue = unique('readonly');
    const user = unique('reader');
    await management?.addUser(user, 'secret');
    afterAll(() => management?.deleteUser(user));
    await management?.setPermissions(user, { configure: '^$', write: '.*', read: '.*' });
    const uri = new URL(url);
    uri.username = user;
    uri.password = 'secret';
    const rabbit = { uri: uri.href };
    await broker.declare(queue);
    await broker.declare(`${queue}.dead`);
    const body = (payload: unknown) => (payload === 'later' ? retryAfter('1h') : undefined);
    const options = { queue, deadLetter: `${queue}.dead`, retry: { attempts: 2 } };
    const declaring = startApp({ providers: [handlerOf(options, body)], rabbit });
    await expect(declaring).rejects.toThrow(
      /Handler\.handle: RabbitMQ refused to declare or consume queue .*403/,
    );
    const app = await startApp({
      providers: [
        handlerOf({ ...options, declare: false }, (payload) => {
          if (payload === 'dead') throw new Error('failed');
          return body(payload);
        }),
      ],
      rabbit,
      settle: { republishTimeout: '1s' },
    });
    await broker.send(queue, 'fine');
    await broker.send(queue, 'dead');
    await app.settled(2);
    await broker.waitForReady(`${queue}.dead`, 1);
    // The waiting queue is missing and can't be declared: no retry of this message can ever be published.
    await broker.send(queue, 'later');
    const last = (await app.settled(3))[2];
    expect(last?.decision).toEqual({ kind: 'deadLetter', reason: 'republish-failed' });
    expect(
      app.log.matching(/\[dead-lettered\] .*could not be published to .*\.wait\./, ['error']),
    ).toHaveLength(1);
    await broker.waitForReady(`${queue}.dead`, 2);
    expect(await broker.ready(queue)).toBe(0);
  });
});

describe('declare', async () => {
  const broker = await openBroker();

  it('false uses queues as they are, whatever their arguments', async () => {
    const queue = unique('as-is');
    await broker.declare(queue, { arguments: { 'x-max-length': 5 } });
    await broker.declare(`${queue}.dead`, { arguments: { 'x-max-length': 5 } });
    const Handler = handlerOf(
      { queue, deadLetter: `${queue}.dead`, declare: { queue: false, deadLetter: false } },
      () => Promise.reject(new Error('failed')),
    );
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    await app.settled(1);
    await broker.waitForReady(`${queue}.dead`, 1);
  });

  it('{ queue: false } still declares the rest', async () => {
    const queue = unique('partial');
    await broker.declare(queue, { arguments: { 'x-max-length': 5 } });
    const Handler = handlerOf(
      { queue, deadLetter: `${queue}.dead`, retry: { attempts: 2 }, declare: { queue: false } },
      () => retryAfter(40),
    );
    await startApp({ providers: [Handler] });
    expect(await broker.ready(`${queue}.dead`)).toBe(0);
    await broker.send(queue, {});
    await broker.waitForReady(`${queue}.dead`, 1);
    expect(await broker.ready(`${queue}.wait.40`)).toBe(0);
  });

  it('createQueueIfNotExists: false uses an existing queue and binds it', async () => {
    const queue = unique('existing');
    await broker.declare(queue, { arguments: { 'x-max-length': 5 } });
    const Handler = handlerOf(
      { queue, exchange: queue, routingKey: 'a', createQueueIfNotExists: false },
      () => undefined,
    );
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: queue, type: 'direct' }] },
    });
    await broker.publish(queue, 'a', {});
    await app.settled(1);
  });

  it('false binds nothing', async () => {
    const queue = unique('unbound');
    await broker.declare(queue);
    const Handler = handlerOf(
      { queue, exchange: queue, routingKey: 'a', declare: false },
      () => undefined,
    );
    const app = await startApp({
      providers: [Handler],
      rabbit: { exchanges: [{ name: queue, type: 'direct' }] },
    });
    await broker.publish(queue, 'a', 'lost');
    await broker.send(queue, 'direct');
    const [settlement] = await app.settled(1);
    expect(settlement?.delivery.payload).toBe('direct');
  });
});
