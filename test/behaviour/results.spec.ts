import { Nack } from '@golevelup/nestjs-rabbitmq';
import { concat, EMPTY, NEVER, Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ack, drop, retry, retryAfter, SettlementEvents } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';
import { handlerOf } from '../support/handlers';

const thenable = (then: (resolve: (value: unknown) => void) => void) => () => ({ then });

// What the handler does at attempt 1, the outcome and the decision. Later attempts return nothing.
const results: [what: string, body: () => unknown, kind: string, decision: string][] = [
  ['nothing', () => undefined, 'ack', 'ack'],
  ['a promise of nothing', async () => undefined, 'ack', 'ack'],
  ['ack()', () => ack(), 'ack', 'ack'],
  ['drop()', () => drop(), 'drop', 'deadLetter'],
  ['a promise of drop()', async () => drop(), 'drop', 'deadLetter'],
  ['retry()', () => retry(), 'retry', 'again'],
  ['retryAfter()', () => retryAfter(20), 'retryAfter', 'republish'],
  ['new Nack()', () => new Nack(), 'drop', 'deadLetter'],
  ['new Nack(true)', async () => new Nack(true), 'retry', 'again'],
  ['an Observable of drop()', () => of(drop()), 'drop', 'deadLetter'],
  ['a promise of an Observable', async () => of(drop()), 'drop', 'deadLetter'],
  ['an Observable that ends without a value', () => EMPTY, 'ack', 'ack'],
  ['several values, the last one drop()', () => of(ack(), drop()), 'drop', 'deadLetter'],
  ['several values, the last one ack()', () => of(drop(), ack()), 'ack', 'ack'],
  ['a thenable', thenable((resolve) => resolve(drop())), 'drop', 'deadLetter'],
];

const throwing: typeof results = [
  [
    'drop(), synchronously',
    () => {
      throw drop();
    },
    'drop',
    'deadLetter',
  ],
  ['ack(), in a promise', () => Promise.reject(ack()), 'ack', 'ack'],
  ['retry(), in a promise', () => Promise.reject(retry()), 'retry', 'again'],
  [
    'retryAfter(), in an Observable',
    () => throwError(() => retryAfter(20)),
    'retryAfter',
    'republish',
  ],
  ['an error, synchronously', fail, 'drop', 'deadLetter'],
  ['an error, in a promise', async () => fail(), 'drop', 'deadLetter'],
  [
    'an error, in an Observable after a value',
    () =>
      concat(
        of(ack()),
        throwError(() => new Error('late')),
      ),
    'drop',
    'deadLetter',
  ],
  ['an error, in `then`', thenable(fail), 'drop', 'deadLetter'],
];

function fail(): never {
  throw new Error('failed');
}

describe.each(['classic', 'quorum'] as const)('a handler on a %s queue', async (queueType) => {
  const broker = await openBroker();
  const options = (queue: string) => ({
    queue,
    queueType,
    retry: { attempts: 3 },
    deadLetter: `${queue}.dead`,
  });
  const again = queueType === 'quorum' ? 'requeue' : 'republish';

  async function check([, body, kind, decision]: (typeof results)[number]): Promise<void> {
    const queue = unique('results');
    const attempts: number[] = [];
    const Handler = handlerOf(options(queue), (_payload, { attempt }) => {
      attempts.push(attempt);
      return attempt === 1 ? body() : undefined;
    });
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const runs = decision === 'again' || decision === 'republish' ? 2 : 1;
    // A republished message may be settled before its original: it is delivered while it is confirmed.
    const first = (await app.settled(runs)).find(({ attempt }) => attempt === 1);
    expect(first?.outcome.kind).toBe(kind);
    expect(first?.decision.kind).toBe(decision === 'again' ? again : decision);
    expect(first?.status).toBe('sent');
    expect(attempts).toEqual([1, 2].slice(0, runs));
    await broker.waitForReady(`${queue}.dead`, decision === 'deadLetter' ? 1 : 0);
    expect(await broker.ready(queue)).toBe(0);
    expect(app.log.matching(/\[unexpected-result\]/)).toEqual([]);
  }

  it.each(results)('that returns %s', (...row) => check(row));

  it.each(throwing)('that throws %s', (...row) => check(row));

  it('that returns anything else acknowledges, with one warning per subscription', async () => {
    const queue = unique('anything');
    const values = [{ data: 1 }, 'done', 0, false, null, () => drop(), Symbol('s')];
    const Handler = handlerOf(options(queue), (index: number) => values[index]);
    const app = await startApp({ providers: [Handler] });
    for (const index of values.keys()) await broker.send(queue, index);
    const settlements = await app.settled(values.length);
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(values.map(() => 'ack'));
    const warnings = app.log.matching(/\[unexpected-result\]/, ['warn']);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('Handler.handle');
    expect(warnings[0]).toContain('returned an object, which');
  });
});

describe('an Observable that a handler returns', async () => {
  const broker = await openBroker();

  it('is subscribed once and awaited to completion', async () => {
    const queue = unique('stream');
    let subscribed = 0;
    const steps: string[] = [];
    const Handler = handlerOf({ queue }, async () => {
      return new Observable<unknown>((subscriber) => {
        subscribed += 1;
        subscriber.next(drop());
        setTimeout(() => {
          steps.push('work');
          subscriber.next(ack());
          subscriber.complete();
        }, 50);
      });
    });
    const app = await startApp({ providers: [Handler] });
    app.app.get(SettlementEvents).subscribe(() => steps.push('settled'));
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(subscribed).toBe(1);
    expect(settlement?.outcome.kind).toBe('ack');
    expect(steps).toEqual(['work', 'settled']);
  });

  it('that never completes is ended by the timeout', async () => {
    const queue = unique('never');
    const Handler = handlerOf({ queue, timeout: 100 }, () => NEVER);
    const app = await startApp({ providers: [Handler] });
    await broker.send(queue, {});
    const [settlement] = await app.settled(1);
    expect(settlement?.error).toHaveProperty('name', 'HandlerTimeoutError');
    expect(settlement?.durationMs).toBeGreaterThanOrEqual(99);
  });
});
