import { describe, expect, it } from 'vitest';
import { http, network, on, sqlState } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe.each(['classic', 'quorum'] as const)('onError rules on a %s queue', async (queueType) => {
  const broker = await openBroker();

  /** The decision about the first attempt, which fails with an error. */
  async function decisionAbout(error: unknown) {
    const queue = unique('matched');
    const options = {
      queue,
      queueType,
      retry: { attempts: 3, backoff: { delay: () => 50 } },
      onError: [
        on(http(429, 503), 'retryAfter'),
        on(network(), 'retryAfter'),
        on(sqlState('40', '08'), 'retry'),
        'drop',
      ],
    } as const;
    const Handler = handlerOf(options, (_payload, { attempt }) => {
      if (attempt === 1) throw error;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    // A copy that is delivered at once can be settled before what it is a copy of.
    await until(() => app.settlements.some(({ attempt }) => attempt === 1));
    return app.settlements.find(({ attempt }) => attempt === 1)?.decision;
  }

  it('wait as long as Retry-After says, and otherwise as long as the backoff says', async () => {
    const limited = { status: 429, headers: new Headers({ 'Retry-After': '1' }) };
    expect(await decisionAbout(new Error('x', { cause: limited }))).toMatchObject({
      kind: 'republish',
      delayMs: 1_000,
    });
    expect(await decisionAbout({ status: 503 })).toMatchObject({ kind: 'republish', delayMs: 50 });
  });

  it('tell networks and databases from other failures', async () => {
    const reset = Object.assign(new Error('x'), { code: 'ECONNRESET' });
    expect(await decisionAbout(new TypeError('fetch failed', { cause: reset }))).toMatchObject({
      kind: 'republish',
      delayMs: 50,
    });
    const deadlock = Object.assign(new Error('deadlock'), { code: '40P01' });
    const atOnce = queueType === 'quorum' ? 'requeue' : 'republish';
    expect((await decisionAbout(deadlock))?.kind).toBe(atOnce);
    expect((await decisionAbout(new Error('other')))?.kind).toBe('reject');
  });
});
