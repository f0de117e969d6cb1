import { describe, expect, it, vi } from 'vitest';
import { type ChannelEnd, explainChannelEnd } from '../../../lib/rabbitmq/acknowledgement-timeout';
import { ConsumerCancelled } from '../../../lib/rabbitmq/consumer-channel';
import { aSubscription, QUEUE } from '../fixtures';

const quorum = aSubscription({ queue: QUEUE, queueType: 'quorum' });
const cancelled = new ConsumerCancelled('cancelled');

function anEnd(end: Partial<ChannelEnd> & { ageMs?: number }): ChannelEnd {
  const { ageMs = 1_800_500, ...rest } = end;
  return {
    reason: cancelled,
    version: [4, 3],
    oldest: { messageId: 'm', ageMs },
    queueExists: async () => true,
    ...rest,
  };
}

const withLimits = (limits: { consumer?: number; queue?: number }) =>
  aSubscription({
    queue: QUEUE,
    queueType: 'quorum',
    queueOptions: {
      arguments: { 'x-consumer-timeout': limits.queue },
      consumerOptions: { arguments: { 'x-consumer-timeout': limits.consumer } },
    },
  });

describe('a channel that RabbitMQ closes', () => {
  it.each([
    '406 (PRECONDITION-FAILED) with message "PRECONDITION_FAILED - delivery acknowledgement on channel 3 timed out. Timeout value used: 1800000 ms. This timeout value can be configured, see consumers doc guide to learn more"',
  ])('is explained by an overdue acknowledgement if its reason says so: %s', async (text) => {
    const reason = new Error(text);
    const found = await explainChannelEnd(aSubscription({}), anEnd({ reason, version: [3, 10] }));
    expect(found.message).toBe(
      "message \"m\" was not acknowledged within RabbitMQ's consumer timeout (30m; delivered 30m1s ago). Set 'timeout' below that limit",
    );
    expect(found.cause).toBe(reason);
  });

  it('keeps any other reason', async () => {
    const reason = new Error('406 (PRECONDITION-FAILED) unknown delivery tag 7');
    expect(await explainChannelEnd(quorum, anEnd({ reason }))).toBe(reason);
  });
});

describe('a consumer that RabbitMQ cancels', () => {
  it('is explained by an overdue acknowledgement from 4.3 on, if its quorum queue exists', async () => {
    const found = await explainChannelEnd(quorum, anEnd({}));
    expect(found.message).toMatch(/consumer timeout \(30m by default; delivered 30m1s ago\)/);
  });

  it.each([
    ['before 4.3', { version: [4, 2] as const }],
    ['if the queue no longer exists', { queueExists: async () => false }],
    ['if the oldest delivery is recent', { ageMs: 29_000 }],
  ])('keeps its reason %s', async (_when, end) => {
    expect(await explainChannelEnd(quorum, anEnd(end))).toBe(cancelled);
  });

  it('keeps its reason on a classic queue, without checking the queue', async () => {
    const queueExists = vi.fn(async () => true);
    const classic = aSubscription({ queue: QUEUE });
    expect(await explainChannelEnd(classic, anEnd({ queueExists }))).toBe(cancelled);
    expect(queueExists).not.toHaveBeenCalled();
  });

  it.each([
    [{ consumer: 2_000, queue: 60_000 }, '2s'],
    [{ queue: 2_500 }, '2.5s'],
  ])('uses the timeout that %j declares', async (limits, text) => {
    const end = anEnd({ ageMs: 2_000 });
    expect((await explainChannelEnd(withLimits(limits), end)).message).toContain(
      `consumer timeout (${text}; `,
    );
    expect(await explainChannelEnd(withLimits(limits), anEnd({ ageMs: 900 }))).toBe(cancelled);
  });
});
