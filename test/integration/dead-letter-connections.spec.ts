import { describe, expect, it } from 'vitest';
import { DeadLetters, type ReplayResult, SettleDeadLettersModule } from '../../lib/dead-letters';
import { startApp } from '../support/app';
import { openBroker, unique } from '../support/broker';
import { Gate, until } from '../support/eventually';
import { connectionNamed, killConnections } from '../support/forced';
import { openProxy } from '../support/proxied';
import {
  type AmqpProxy,
  connectionClose,
  type FramePredicate,
  fromClient,
  fromServer,
} from '../support/proxy';

const closedBy541 = 'Connection closed: 541 (INTERNAL-ERROR) with message "INTERNAL_ERROR"';

/** Closes the connection of the next matching frame, as RabbitMQ does when a queue does not reply. */
function closeInPlaceOf(proxy: AmqpProxy, predicate: FramePredicate): void {
  const close = [connectionClose({ replyCode: 541, replyText: 'INTERNAL_ERROR' })];
  proxy.rewrite(
    predicate,
    ({ connection }) => {
      proxy.drop(fromClient('connection.close-ok', { connection }));
      return { onward: close, back: close };
    },
    { times: 1 },
  );
}

/** The connections that publish: those that have opened a confirm channel. */
function publishingOf(proxy: AmqpProxy): FramePredicate {
  const publishing = new Set<number>();
  proxy.rewrite(fromServer('confirm.select-ok'), ({ connection }, bytes) => {
    publishing.add(connection);
    return { onward: [bytes] };
  });
  return (frame) => publishing.has(frame.connection);
}

describe('a connection that RabbitMQ closes with an error', async () => {
  const broker = await openBroker();

  async function deadLettersOf(count: number): Promise<{ queue: string; dead: string }> {
    const [queue, dead] = [unique('target'), unique('dead')];
    await broker.declare(queue);
    await broker.declare(dead);
    const headers = { 'x-settle-reason': 'error', 'x-settle-queue': queue };
    for (let id = 1; id <= count; id += 1) {
      await broker.send(dead, {}, { messageId: String(id), headers });
    }
    await broker.waitForReady(dead, count);
    return { queue, dead };
  }

  async function idsIn(queue: string): Promise<string[]> {
    return broker.channel(async (channel) => {
      const ids: string[] = [];
      for (;;) {
        const message = await channel.get(queue, { noAck: true });
        if (message === false) return ids;
        ids.push(message.properties.messageId);
      }
    });
  }

  describe.each(['basic.qos-ok', 'basic.consume-ok', 'basic.deliver'] as const)(
    'in place of %s',
    (method) => {
      it('rejects with the reason, or ends a run with it; the next call opens another', async () => {
        const { dead } = await deadLettersOf(3);
        const proxy = await openProxy();
        const deadLetters = await DeadLetters.connect(proxy.url);
        const [letter] = (await deadLetters.list(dead)).letters;
        closeInPlaceOf(proxy, fromServer(method));
        await expect(deadLetters.list(dead)).rejects.toThrow(closedBy541);
        closeInPlaceOf(proxy, fromServer(method));
        await expect(deadLetters.get(dead, letter?.id ?? '')).rejects.toThrow(closedBy541);
        const runs = [
          () => deadLetters.replay(dead),
          () => deadLetters.discard(dead, { dryRun: true }),
        ];
        for (const run of runs) {
          closeInPlaceOf(proxy, fromServer(method));
          if (method !== 'basic.deliver') await expect(run()).rejects.toThrow(closedBy541);
          else {
            const { ended, error } = await run();
            expect([ended, String(error)]).toEqual(['failed', `Error: ${closedBy541}`]);
          }
        }
        await broker.waitForReady(dead, 3);
        expect(await deadLetters.replay(dead)).toMatchObject({ replayed: 3, ended: 'complete' });
        await deadLetters.close();
      });
    },
  );

  it('while its messages return is the reason of the run', async () => {
    const { dead } = await deadLettersOf(3);
    const proxy = await openProxy();
    const deadLetters = await DeadLetters.connect(proxy.url);
    closeInPlaceOf(proxy, fromServer('basic.cancel-ok'));
    const { ended, error } = await deadLetters.replay(dead, { dryRun: true });
    expect([ended, String(error)]).toEqual(['failed', `Error: ${closedBy541}`]);
    await deadLetters.close();
  });

  it('in place of a confirm is named with what may be in both queues; the rest is replayed', async () => {
    const { queue, dead } = await deadLettersOf(300);
    const proxy = await openProxy();
    const isPublishing = publishingOf(proxy);
    const deadLetters = await DeadLetters.connect(proxy.url);
    closeInPlaceOf(proxy, (frame) => isPublishing(frame) && fromServer('basic.ack')(frame));
    const result = await deadLetters.replay(dead);
    await deadLetters.close();
    expect(result).toMatchObject({ scanned: 300, ended: 'complete', duplicated: 0 });
    expect(result.failures).toMatchObject([{ cause: 'unconfirmed', count: result.failed }]);
    expect(result.failures[0]?.text).toContain(closedBy541);
    expect(result.failed).toBeLessThanOrEqual(256);
    expect(result.replayed).toBe(300 - result.failed);
    await broker.waitForReady(dead, result.failed);
    const ids = [...(await idsIn(queue)), ...(await idsIn(dead))];
    expect(new Set(ids).size).toBe(300);
  });

  it('before anything is published on it costs nothing', async () => {
    const { queue, dead } = await deadLettersOf(3);
    const proxy = await openProxy();
    const deadLetters = await DeadLetters.connect(proxy.url);
    closeInPlaceOf(proxy, fromServer('confirm.select-ok'));
    expect(await deadLetters.replay(dead)).toMatchObject({ replayed: 3, failed: 0 });
    await deadLetters.close();
    await broker.waitForReady(queue, 3);
  });

  it('as an administrator does ends what is running with that reason, in an application', async () => {
    const { queue, dead } = await deadLettersOf(300);
    const name = unique('connection');
    const proxy = await openProxy();
    const { app } = await startApp({
      providers: [],
      imports: [SettleDeadLettersModule.forRoot()],
      rabbit: { uri: proxy.url, connectionManagerOptions: connectionNamed(name) },
    });
    const deadLetters = app.get(DeadLetters);
    proxy.drop(fromServer('basic.deliver'));
    const hold = proxy.hold(fromServer('basic.consume-ok'), { onlyMatching: true });
    const listing = deadLetters.list(dead);
    const rejected = expect(listing).rejects.toThrow('320 (CONNECTION-FORCED)');
    await hold.caught(1);
    await Promise.all([rejected, killConnections(name)]);
    proxy.reset();

    const started = new Gate();
    const replaying = deadLetters.replay(dead, { rate: 200, onProgress: () => started.open() });
    await started.promise;
    await killConnections(name);
    const result: ReplayResult = await replaying;
    expect(result.ended).toBe('failed');
    expect(String(result.error)).toContain('320 (CONNECTION-FORCED)');
    await until(
      async () => ((await broker.ready(dead)) ?? 0) + ((await broker.ready(queue)) ?? 0) >= 300,
    );
    const left = (await broker.ready(dead)) ?? 0;
    expect(await deadLetters.replay(dead)).toMatchObject({ replayed: left, ended: 'complete' });
    expect(new Set(await idsIn(queue)).size).toBe(300);
  });
});
