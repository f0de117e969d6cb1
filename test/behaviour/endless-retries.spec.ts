import { describe, expect, it } from 'vitest';
import { type Outcome, on, retry, retryAfter, type SubscribeOptions } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

describe('a retry without a limit', async () => {
  const broker = await openBroker();

  async function started(options: Partial<SubscribeOptions>, body: () => unknown = () => {}) {
    const queue = unique('endless');
    const Handler = handlerOf({ queue, ...options } as SubscribeOptions, body);
    const app = await startApp({ providers: [Handler] });
    const warnings = (): string[] => app.log.matching(/\[endless-retry\]/, ['warn']);
    return { app, queue, warnings };
  }

  it.each<[option: string, options: Partial<SubscribeOptions>]>([
    ['onError: retryAfter', { onError: 'retryAfter' }],
    ['onError: retry', { onError: 'retry' }],
    ['onError: retryAfter()', { onError: retryAfter('1m') }],
    ['onError: retryAfter', { onError: [on(RangeError, 'retryAfter'), 'drop'] }],
    ['onError: retry()', { onError: [on(RangeError, 'drop'), retry()] }],
    ['onPanic: retry', { onPanic: 'retry' }],
    ['onPanic: retry', { onPanic: 'retry', queueType: 'quorum' }],
  ])('by a policy is warned of at startup: %s', async (option, options) => {
    const { warnings } = await started(options);
    expect(warnings()).toEqual([expect.stringContaining(`${option} `)]);
  });

  it('by several policies is warned of in one line', async () => {
    const { warnings } = await started({ onError: [on(Error, 'retry')], onPanic: 'retryAfter' });
    expect(warnings()).toEqual([expect.stringMatching(/onError: retry, onPanic: retryAfter/)]);
  });

  it.each<[what: string, options: Partial<SubscribeOptions>]>([
    ['with retry', { onError: 'retryAfter', retry: { attempts: 3 } }],
    ['with policies that end', { onError: 'drop', onPanic: 'failFastOnce' }],
    ['with a policy that is a function', { onError: () => retry() }],
    ['with noAck', { onError: 'retry', noAck: true }],
  ])('is not warned of at startup %s', async (_what, options) => {
    const { warnings } = await started(options);
    expect(warnings()).toEqual([]);
  });

  it.each<[how: string, options: Partial<SubscribeOptions>, body: () => unknown, startup: number]>([
    ['an outcome', {}, () => retryAfter(20), 0],
    ['an outcome', {}, () => retry(), 0],
    ['a policy', { onError: retryAfter(20) }, () => Promise.reject(new Error('x')), 1],
    ['a function', { onError: (): Outcome => retry() }, () => Promise.reject(new Error('x')), 0],
  ])('by %s is warned of once when it happens', async (_how, options, body, startup) => {
    let runs = 0;
    const { app, queue, warnings } = await started(options, () => {
      runs += 1;
      return runs > 3 ? undefined : body();
    });
    await broker.send(queue, {});
    await app.settled(4);
    expect(warnings().slice(startup)).toEqual([
      expect.stringMatching(/^Handler\.handle \[endless-retry\] retry(After)?\(\) without retry/),
    ]);
  });
});
