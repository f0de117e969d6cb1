import { describe, expect, it } from 'vitest';
import { drop, type Outcome, on, retry, retryAfter } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { type AcknowledgedOptions, handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)('retry.maxAge on a %s queue', async (queueType) => {
  const broker = await openBroker();

  async function consuming(
    options: Partial<AcknowledgedOptions>,
    body: (attempt: number) => Outcome | undefined,
  ) {
    const queue = unique('aged');
    const runs: number[] = [];
    const Handler = handlerOf(
      { queue, queueType, deadLetter: `${queue}.dead`, ...options },
      (_payload, { attempt }) => {
        runs.push(attempt);
        return body(attempt);
      },
    );
    const app = await startApp({ providers: [Handler] });
    return { queue, runs, app };
  }

  it('dead-letters a message once no retry can begin in time, however it was retried', async () => {
    const { queue, runs, app } = await consuming(
      { retry: { attempts: 10_000, maxAge: '400ms' } },
      (attempt) => (attempt % 2 === 1 ? retryAfter(100) : retry()),
    );
    const sent = Date.now();
    await broker.send(queue, {}, { messageId: 'm' });
    const { properties } = await broker.take(`${queue}.dead`);
    expect(properties).toMatchObject({
      messageId: 'm',
      headers: { 'x-settle-reason': 'max-age', 'x-settle-attempts-made': runs.length },
    });
    const first = Date.parse(String(properties.headers?.['x-settle-first-failed-at']));
    expect(first).toBeGreaterThanOrEqual(sent);
    expect(runs.length).toBeGreaterThan(2);
    expect(runs).toEqual(runs.map((_attempt, index) => index + 1));
    expect(app.settlements.at(-1)?.decision).toEqual({ kind: 'deadLetter', reason: 'max-age' });
    expect(app.log.matching(/\[dead-lettered\] message "m".*"max-age"/)).toHaveLength(1);
  });

  it('ends at once if the first delay is longer, and leaves other outcomes alone', async () => {
    const { queue, runs, app } = await consuming(
      { retry: { attempts: 5, maxAge: 50 }, onError: [on(Error, 'retryAfter')] },
      () => {
        if (runs.length === 2) return drop('other');
        throw new Error('no answer');
      },
    );
    for (const messageId of ['late', 'dropped']) await broker.send(queue, {}, { messageId });
    await app.settled(2);
    const reasons = app.settlements.map(({ decision }) => 'reason' in decision && decision.reason);
    expect(reasons.sort()).toEqual(['drop', 'max-age']);
    expect((await broker.take(`${queue}.dead`)).properties.headers).toMatchObject({
      'x-settle-first-failed-at': expect.any(String),
    });
  });

  it('counts anew for a dead letter that is put back', async () => {
    const { queue, runs } = await consuming({ retry: { attempts: 9, maxAge: 150 } }, () =>
      retryAfter(100),
    );
    await broker.send(queue, {});
    const dead = await broker.take(`${queue}.dead`);
    const before = runs.length;
    await broker.send(queue, dead.content, { headers: dead.properties.headers });
    await broker.take(`${queue}.dead`);
    expect(runs.slice(before)).toEqual(runs.slice(0, before));
    expect(before).toBe(2);
  });
});
