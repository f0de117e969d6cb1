import { beforeEach, describe, expect, it } from 'vitest';
import { type ClosedChannel, ReconnectPause } from '../../../lib/rabbitmq/reconnect-pause';

let pause: ReconnectPause;

beforeEach(() => {
  pause = new ReconnectPause();
});

function aChannel(channel: Partial<ClosedChannel> = {}): ClosedChannel {
  return { ageMs: 50, hasSettled: false, isOldestRedelivered: undefined, ...channel };
}

/** Expects a pause whose longest length is `ms`. */
function expectPause(ms: number): void {
  const next = pause.next();
  expect(next).toBeGreaterThanOrEqual(ms / 2);
  expect(next).toBeLessThanOrEqual(ms);
}

it('doubles up to 30 s', () => {
  for (const ms of [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]) {
    expectPause(ms);
  }
});

describe('after a channel that closed', () => {
  beforeEach(() => {
    for (const ms of [200, 400, 800]) expectPause(ms);
  });

  it.each<[string, Partial<ClosedChannel>]>([
    ['settled deliveries', { hasSettled: true }],
    [
      'settled deliveries, with a first delivery left',
      { hasSettled: true, isOldestRedelivered: false },
    ],
    ['was open for long', { ageMs: 10_000 }],
    ['was closed to return what it held', { isReturned: true, isOldestRedelivered: true }],
    ['was open for very long with a redelivery left', { ageMs: 60_000, isOldestRedelivered: true }],
  ])('and %s it is short again', (_what, channel) => {
    pause.closed(aChannel(channel));
    expectPause(200);
  });

  it.each<[string, Partial<ClosedChannel>]>([
    ['settled nothing', {}],
    ['settled nothing, with a first delivery left', { isOldestRedelivered: false }],
    ['settled deliveries, with a redelivery left', { hasSettled: true, isOldestRedelivered: true }],
    ['was open for long with a redelivery left', { ageMs: 59_999, isOldestRedelivered: true }],
  ])('and %s it grows', (_what, channel) => {
    pause.closed(aChannel(channel));
    expectPause(1_600);
  });
});
