import { AmqpConnection } from '@golevelup/nestjs-rabbitmq';
import { Inject, Injectable } from '@nestjs/common';
import type { ConsumeMessage } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { ack, drop, type Outcome, retry, Subscribe } from '../../lib';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { waitForEmpty } from '../support/forced';
import { handlerOf } from '../support/handlers';
import { openProxy } from '../support/proxied';
import { type AmqpProxy, fromClient } from '../support/proxy';

/** The acknowledgements on the wire: method, delivery tag, multiple. */
function settlingFrames(proxy: AmqpProxy): [string, number | undefined, boolean][] {
  return proxy.frames
    .filter(({ direction }) => direction === 'client')
    .filter(({ method }) => /^basic\.(ack|nack|reject)$/.test(method))
    .map(({ method, details }) => [method, details.deliveryTag, details.multiple ?? false]);
}

describe.each(['classic', 'quorum'] as const)('settling on a %s queue', async (queueType) => {
  const broker = await openBroker();

  it('sends the acknowledgements of one turn as one frame over the settled prefix', async () => {
    const queue = unique('joined');
    const proxy = await openProxy();
    const finish = new Gate();
    let started = 0;
    const Handler = handlerOf({ queue, queueType, prefetch: 50 }, async () => {
      started += 1;
      await finish.promise;
    });
    const { settled } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (let id = 1; id <= 50; id += 1) await broker.send(queue, id);
    await until(() => started === 50);
    finish.open();
    await settled(50);
    await proxy.waitFor(fromClient('basic.ack'));
    await waitForEmpty(queue);
    expect(settlingFrames(proxy)).toEqual([['basic.ack', 50, true]]);
  });

  it('never covers a delivery that is still running', async () => {
    const queue = unique('behind');
    const proxy = await openProxy();
    const gates = [new Gate(), new Gate(), new Gate()];
    let started = 0;
    // 1 and 4 run longer than the rest; 2 and 3 end in one turn, then 1, then all others.
    const gateOf = (id: number): Gate | undefined =>
      id === 1 ? gates[1] : id < 4 ? gates[0] : gates[2];
    const Handler = handlerOf({ queue, queueType, prefetch: 6 }, async (id: number) => {
      started += 1;
      await gateOf(id)?.promise;
    });
    const { settled } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (let id = 1; id <= 6; id += 1) await broker.send(queue, id);
    await until(() => started === 6);
    gates[0]?.open();
    await settled(2);
    gates[1]?.open();
    await settled(3);
    gates[2]?.open();
    await settled(6);
    await until(() => settlingFrames(proxy).length >= 4);
    await waitForEmpty(queue);
    expect(settlingFrames(proxy)).toEqual([
      ['basic.ack', 2, false],
      ['basic.ack', 3, false],
      ['basic.ack', 1, false],
      ['basic.ack', 6, true],
    ]);
  });

  it('does not affect the others when one of five messages fails', async () => {
    const queue = unique('innocent');
    const proxy = await openProxy();
    const finish = new Gate();
    const redelivered: boolean[] = [];
    const Handler = handlerOf({ queue, queueType, prefetch: 5 }, async (id: number, delivery) => {
      redelivered.push(delivery.redelivered);
      if (redelivered.length < 5) await finish.promise;
      if (id === 5) throw new Error('bad one');
    });
    const { settled } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    for (let id = 1; id <= 5; id += 1) await broker.send(queue, id);
    await settled(1);
    await proxy.waitFor(fromClient('basic.reject'));
    expect(settlingFrames(proxy)).toEqual([['basic.reject', 5, false]]);
    finish.open();
    await settled(5);
    await until(() => settlingFrames(proxy).length >= 2);
    await waitForEmpty(queue);
    expect(settlingFrames(proxy)).toEqual([
      ['basic.reject', 5, false],
      ['basic.ack', 4, true],
    ]);
    expect(redelivered).toEqual([false, false, false, false, false]);
  });

  it('settles nothing twice when andAfter() and the logger throw', async () => {
    const queue = unique('thrown');
    const proxy = await openProxy();
    const fail = (): never => {
      throw new Error('out of paper');
    };
    const Handler = handlerOf({ queue, queueType }, (kind: string) => {
      if (kind === 'error') throw new Error('bad one');
      return kind === 'drop' ? drop().andAfter(fail) : ack().andAfter(fail);
    });
    const { settled, settlements } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
      settle: { logger: { log: fail, warn: fail, error: fail, debug: fail } },
    });
    const kinds = ['ack', 'drop', 'error', 'ack'];
    for (const kind of kinds) await broker.send(queue, kind);
    await settled(4);
    await until(() => settlingFrames(proxy).length >= 4);
    await waitForEmpty(queue);
    expect(settlements.map(({ status }) => status)).toEqual(kinds.map(() => 'sent'));
    expect(
      settlingFrames(proxy)
        .map(([, tag]) => tag)
        .sort(),
    ).toEqual([1, 2, 3, 4]);
  });

  it('survives a handler that acknowledges by itself on another channel', async () => {
    const queue = unique('by-hand');
    const runs: boolean[] = [];

    @Injectable()
    class Handler {
      constructor(@Inject(AmqpConnection) private readonly connection: AmqpConnection) {}

      @Subscribe({ queue, queueType })
      handle(_payload: unknown, message: ConsumeMessage): void {
        runs.push(message.fields.redelivered);
        if (runs.length === 1) this.connection.channel.ack(message);
      }
    }
    const { settled } = await startApp({ providers: [Handler] });
    await broker.send(queue, 1);
    await settled(1);
    await waitForEmpty(queue);
    await broker.send(queue, 2);
    await until(() => runs.length >= 2);
    await waitForEmpty(queue);
  });
});

describe('a noAck subscription', async () => {
  const broker = await openBroker();

  it('settles nothing, and logs what cannot be carried out', async () => {
    const queue = unique('no-ack');
    const proxy = await openProxy();
    const Handler = handlerOf({ queue, noAck: true }, (kind: string): Outcome | void => {
      if (kind === 'error') throw new Error('bad one');
      if (kind === 'retry') return retry();
      if (kind === 'drop') return drop();
      if (kind === 'after') return ack().andAfter(() => new Promise(() => undefined));
    });
    const { settled, log, close, registry } = await startApp({
      providers: [Handler],
      rabbit: { uri: proxy.url },
      settle: { shutdownTimeout: 300, abortGracePeriod: 100 },
    });
    const bodies: unknown[] = ['ok', 'error', 'retry', Buffer.from('{'), 'drop', 'after'];
    for (const body of bodies) await broker.send(queue, body);
    await settled(6);
    expect(log.matching(/cannot (drop|retry): RabbitMQ already removed the message/)).toHaveLength(
      4,
    );
    expect(registry.get(Handler, 'handle').state).toBe('consuming');
    await close();
    expect(settlingFrames(proxy)).toEqual([]);
    expect(proxy.frames.filter(({ details }) => details.replyCode === 406)).toEqual([]);
    expect(await broker.ready(queue)).toBe(0);
  });

  it('shuts down on a panic and logs that the message is lost', async () => {
    const queue = unique('no-ack-panic');
    const proxy = await openProxy();
    const Handler = handlerOf({ queue, noAck: true }, (_payload, delivery) => {
      (delivery as unknown as { absent: { name: string } }).absent.name = 'x';
    });
    const { failed, log } = await startApp({ providers: [Handler], rabbit: { uri: proxy.url } });
    await broker.send(queue, {});
    await until(() => failed.length === 1);
    expect(log.matching(/RabbitMQ already removed the message/)).not.toEqual([]);
    expect(settlingFrames(proxy)).toEqual([]);
    expect(await broker.ready(queue)).toBe(0);
  });
});
