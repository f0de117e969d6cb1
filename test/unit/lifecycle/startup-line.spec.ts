import { describe, expect, it } from 'vitest';
import { fixed, on, retryAfter } from '../../../lib';
import { startupLine } from '../../../lib/lifecycle/startup-line';
import type { SubscribeOptions } from '../../../lib/model/options';
import { aSubscription } from '../fixtures';

const lineOf = (options: SubscribeOptions): string => startupLine(aSubscription(options), 10);

describe('startupLine', () => {
  it('names what is not declared', () => {
    const bound = { exchange: 'orders', routingKey: 'paid' };
    expect(lineOf(bound)).not.toContain('declared');
    expect(lineOf({ ...bound, declare: { queue: false } })).toContain('; not declared: queue;');
    expect(lineOf({ ...bound, declare: false })).toContain(
      '; not declared: queue, bindings, waiting queues;',
    );
    expect(lineOf({ declare: false, deadLetter: 'dead' })).toContain(
      '; not declared: queue, waiting queues, dead-letter queue;',
    );
  });

  it('names where dead letters go, those of RabbitMQ as well', () => {
    const queueOptions = { deadLetterExchange: 'dlx' };
    expect(lineOf({})).toContain('; no dead-letter queue;');
    expect(lineOf({ queueOptions })).toContain(
      '; no dead-letter queue, rejected messages to exchange "dlx";',
    );
    expect(lineOf({ deadLetter: 'dead', queueOptions })).toContain(
      '; dead letters to "dead", those of RabbitMQ to exchange "dlx";',
    );
  });

  it('shows how long a message is retried', () => {
    const retry = { attempts: 5, maxAge: '1d', backoff: fixed('1m') } as const;
    expect(lineOf({ retry })).toContain('; retry: 5 attempts, max age 1d, backoff fixed(');
  });

  it('shows a policy function as what it is', () => {
    const byError = (): ReturnType<typeof retryAfter> => retryAfter(5);
    const line = lineOf({ onError: [on(Error, byError), byError], onPanic: byError });
    expect(line).toContain('onError: 1 rule, then a function; onPanic: a function;');
  });
});
