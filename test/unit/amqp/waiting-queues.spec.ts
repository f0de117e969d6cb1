import type { QueueOptions } from '@golevelup/nestjs-rabbitmq';
import { describe, expect, it } from 'vitest';
import { waitingQueueOf } from '../../../lib/amqp/waiting-queues';
import { aSubscription } from '../fixtures';

describe('the waiting queue of a message', () => {
  it('is of the type of the queue', () => {
    expect(waitingQueueOf(aSubscription(), 'billing', 1_000)).toEqual({
      name: 'billing.wait.1000',
      queue: 'billing',
      type: 'classic',
      delayMs: 1_000,
    });
    expect(waitingQueueOf(aSubscription({ queueType: 'quorum' }), 'billing', 1_000)).toEqual({
      name: 'billing.waitq.1000',
      queue: 'billing',
      type: 'quorum',
      delayMs: 1_000,
    });
  });

  const reject = { 'x-overflow': 'reject-publish' };
  const dropHead = { 'x-overflow': 'drop-head' };
  const rejectDlx = { 'x-overflow': 'reject-publish-dlx' };

  it.each<[string, QueueOptions]>([
    ['refuses what is published when it is full', { maxLength: 5, arguments: reject }],
    ['refuses it, with a limit by policy', { arguments: reject }],
    ['refuses it by an option that amqplib knows', { overflow: 'reject-publish' } as QueueOptions],
    ['has a limit, whose overflow a policy can set', { maxLength: 5 }],
    ['has a limit as an argument', { arguments: { 'x-max-length': 5 } }],
    ['has a limit in bytes', { arguments: { 'x-max-length-bytes': 5 } }],
    ['dead-letters what it refuses, without a route', { arguments: rejectDlx }],
  ])('is a quorum queue if a classic queue %s', (_name, queueOptions) => {
    expect(waitingQueueOf(aSubscription({ queueOptions }), 'billing', 8)).toMatchObject({
      name: 'billing.waitq.8',
      type: 'quorum',
    });
  });

  it.each<[string, QueueOptions]>([
    ['drops its oldest messages', { maxLength: 5, arguments: dropHead }],
    ['dead-letters what it refuses', { deadLetterExchange: 'x', arguments: rejectDlx }],
    [
      'dead-letters what it refuses by an argument',
      { arguments: { ...rejectDlx, 'x-dead-letter-exchange': 'x' } },
    ],
    ['has other options', { maxPriority: 5, arguments: { 'x-message-ttl': 5 } }],
  ])('is a classic queue if a classic queue %s', (_name, queueOptions) => {
    expect(waitingQueueOf(aSubscription({ queueOptions }), 'billing', 8)).toMatchObject({
      name: 'billing.wait.8',
      type: 'classic',
    });
  });
});
