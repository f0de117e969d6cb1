import { describe, expect, it, onTestFinished } from 'vitest';
import { drop, type Outcome, retryAfter } from '../../lib';
import { startApp } from '../support/app';
import { management, openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';
import { describeOn } from '../support/versions';

/** Patterns of the queues and exchanges that a user may use. */
interface Permissions {
  readonly configure?: string;
  readonly write?: string;
}

/** A user of its own for one test, and its connection URL. */
async function addUser(permissions: Permissions) {
  const name = unique('user');
  await management.addUser(name, 'secret');
  onTestFinished(async () => {
    await management.deleteUser(name);
  });
  await management.setPermissions(name, permissions);
  const address = new URL(url);
  address.username = name;
  address.password = 'secret';
  return { name, uri: address.href };
}

describe.each(['classic', 'quorum'] as const)('republishing from a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function consuming(
    answer: (id: string | undefined, attempt: number) => Outcome | undefined,
    uri: string,
    { queue = unique('target'), ...options }: Partial<AcknowledgedOptions> = {},
  ) {
    const runs: [id: string | undefined, attempt: number][] = [];
    const Handler = handlerOf(
      { queue, queueType, retry: { attempts: 10 }, ...options },
      (_payload, { attempt, messageId: id }) => {
        runs.push([id, attempt]);
        return answer(id, attempt);
      },
    );
    const app = await startApp({ providers: [Handler], rabbit: { uri } });
    const status = () => app.registry.get(Handler, 'handle');
    const pauses = (): number => app.log.matching(/\[consumer-paused\]/).length;
    return { queue, runs, app, status, pauses };
  }

  it('without the right to publish requeues, pauses and names the reason; later it goes on', async () => {
    const { name, uri } = await addUser({ write: '^$' });
    const dead = unique('dead');
    await broker.declare(dead);
    const { queue, runs, app, status, pauses } = await consuming(() => drop(), uri, {
      deadLetter: dead,
    });
    await broker.send(queue, {}, { messageId: 'm' });
    const [first] = await app.settled(1);
    expect(first).toMatchObject({
      status: 'republishFailed',
      republishError: { scope: 'broker', replyCode: 403, mayHaveArrived: false },
    });
    const line = app.log.matching(/\[republish-failed\]/, ['error'])[0];
    expect(line).toContain(`message "m" (queue "${queue}", attempt 1 of 10)`);
    expect(line).toMatch(/403 \(ACCESS-REFUSED\).*access to exchange 'amq\.default'/);
    expect(status().lastError).toBe(first?.republishError);
    expect(pauses()).toBe(1);
    await management.setPermissions(name, {});
    await until(() => app.settlements.at(-1)?.status === 'sent', { timeoutMs: 20_000 });
    expect((await broker.take(dead)).properties.messageId).toBe('m');
    await broker.waitForReady(queue, 0);
    expect(runs.length).toBe(app.settlements.length);
  });

  it('without the right to the waiting queue dead-letters what was to wait, and nobody pauses', async () => {
    const [queue, dead] = [unique('target'), unique('dead')];
    await broker.declare(dead);
    const { uri } = await addUser({ configure: `^${queue}$` });
    const { runs, app, pauses } = await consuming(
      (id) => (id === 'late' ? retryAfter(40) : undefined),
      uri,
      { queue, deadLetter: dead },
    );
    for (const messageId of ['late', 'other']) await broker.send(queue, {}, { messageId });
    await app.settled(2);
    const { properties } = await broker.take(dead);
    expect(properties).toMatchObject({
      messageId: 'late',
      headers: {
        'x-settle-reason': 'republish-failed',
        'x-settle-error-name': 'RepublishError',
        'x-settle-error-message': expect.stringContaining('403 (ACCESS-REFUSED)'),
        'x-settle-attempts-made': 1,
      },
    });
    const late = app.settlements.find(({ delivery }) => delivery.messageId === 'late');
    expect(late).toMatchObject({
      status: 'sent',
      decision: { kind: 'deadLetter', reason: 'republish-failed' },
      republishError: { scope: 'target', replyCode: 403 },
    });
    expect(app.log.matching(/\[dead-lettered\] message "late".*403/, ['error'])).toHaveLength(1);
    expect([runs.length, pauses()]).toEqual([2, 0]);
    await broker.waitForReady(queue, 0);
  });

  it('to a waiting queue that cannot be declared, without deadLetter, loses nothing', async () => {
    const queue = unique('target');
    const waiting = `${queue}.${queueType === 'quorum' ? 'waitq' : 'wait'}.40`;
    const { runs, app, pauses } = await consuming(
      (_id, attempt) => (runs.length < 3 || attempt === 1 ? retryAfter(40) : undefined),
      url,
      { queue },
    );
    const args = { 'x-queue-type': queueType, 'x-message-ttl': 7 };
    await broker.declare(waiting, { arguments: args });
    await broker.send(queue, {}, { messageId: 'm' });
    const [first] = await app.settled(1);
    expect(first).toMatchObject({
      status: 'republishFailed',
      republishError: { scope: 'target', replyCode: 406 },
    });
    expect(app.log.matching(/\[republish-failed\] .*406/, ['error'])[0]).toContain(`"${waiting}"`);
    expect(pauses()).toBe(1);
    await broker.delete(waiting);
    await until(() => app.settlements.at(-1)?.decision.kind === 'ack', { timeoutMs: 20_000 });
    await broker.waitForReady(queue, 0);
  });

  it('to a full queue requeues and pauses, with the nack as the reason', async () => {
    const dead = unique('dead');
    const full = { 'x-queue-type': 'classic', 'x-max-length': 1, 'x-overflow': 'reject-publish' };
    await broker.declare(dead, { arguments: full });
    await broker.send(dead, 'in the way');
    const { queue, app, pauses } = await consuming(() => drop(), url, { deadLetter: dead });
    await broker.send(queue, {}, { messageId: 'm' });
    const [first] = await app.settled(1);
    expect(first).toMatchObject({
      status: 'republishFailed',
      republishError: { scope: 'broker', mayHaveArrived: false },
    });
    expect(app.log.matching(/\[republish-failed\] .*basic\.nack.*full/, ['error'])).toHaveLength(1);
    expect(pauses()).toBe(1);
    await broker.take(dead);
    await until(() => app.settlements.at(-1)?.status === 'sent', { timeoutMs: 20_000 });
    expect((await broker.take(dead)).properties.messageId).toBe('m');
  });
});

describeOn({ from: '4.3', because: 'earlier ones do not report deliveries that cost no attempt' })(
  'requeues after a failed republish',
  async () => {
    const broker = await openBroker();

    it('never cost the message, although RabbitMQ counts them as deliveries', async () => {
      const queue = unique('acquired');
      const waiting = `${queue}.waitq.40`;
      await broker.declare(waiting, {
        arguments: { 'x-queue-type': 'quorum', 'x-message-ttl': 7 },
      });
      let isMended = false;
      const attempts: number[] = [];
      const Handler = handlerOf(
        { queue, queueType: 'quorum', retry: { attempts: 2, maxDeliveries: 2 } },
        (_payload, { attempt }) => {
          attempts.push(attempt);
          return isMended && attempt === 2 ? undefined : retryAfter(40);
        },
      );
      const app = await startApp({ providers: [Handler] });
      await broker.send(queue, {}, { messageId: 'm' });
      await app.settled(3, 20_000);
      expect(app.settlements.map(({ status }) => status)).toEqual(Array(3).fill('republishFailed'));
      const lines = app.log.matching(/\[poison-message\] message "m".*handled again/, ['error']);
      expect(lines).toHaveLength(1);
      isMended = true;
      await broker.delete(waiting);
      await until(() => app.settlements.at(-1)?.decision.kind === 'ack', { timeoutMs: 20_000 });
      expect(attempts.slice(-2)).toEqual([1, 2]);
      await broker.waitForReady(queue, 0);
    }, 60_000);
  },
);
