import { beforeEach, describe, expect, it } from 'vitest';
import { SubscriptionLog } from '../../../lib/log/subscription-log';
import { HotKeyWatch } from '../../../lib/settlement/hot-key-watch';
import { FakeClock } from '../../support/fake-clock';
import { LogRecorder } from '../../support/log-recorder';

describe('the watch of hot keys', () => {
  let clock: FakeClock;
  let logger: LogRecorder;

  beforeEach(() => {
    clock = new FakeClock();
    logger = new LogRecorder();
  });

  function watchOf(
    prefetch: number,
    after = 100,
  ): (key: string, deliveries: number) => HotKeyWatch {
    const log = new SubscriptionLog(logger, 'Ledger.book', clock);
    const watch = new HotKeyWatch({ clock, log, queue: 'ledger', prefetch, after });
    return (key, deliveries) => {
      watch.changed({ key, deliveries });
      return watch;
    };
  }

  const kinds = (): string[] =>
    logger.lines.map(({ text }) => /\[([a-z-]+)\]/.exec(text)?.[1] ?? text);

  it('reports a key that has had more than half of the prefetch for long enough, once', () => {
    const changed = watchOf(10);
    changed('a', 5);
    clock.advance(1_000);
    expect(kinds()).toEqual([]);
    changed('a', 6);
    clock.advance(99);
    changed('a', 8);
    expect(kinds()).toEqual([]);
    clock.advance(1);
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        text: expect.stringMatching(
          /Ledger.book \[hot-key\] queue "ledger": more than half .* key 'a' for 100ms, now 8 of 10;/,
        ),
      },
    ]);
    for (let deliveries = 9; deliveries >= 3; deliveries -= 1) changed('a', deliveries);
    changed('a', 7);
    clock.advance(1_000);
    expect(kinds()).toEqual(['hot-key']);
  });

  it('reports the end when the key has less than a quarter, and the next time anew', () => {
    const changed = watchOf(10);
    changed('a', 6);
    clock.advance(100);
    changed('a', 3);
    expect(kinds()).toEqual(['hot-key']);
    changed('a', 2);
    changed('a', 1);
    expect(kinds()).toEqual(['hot-key', 'hot-key-ended']);
    changed('a', 6);
    clock.advance(100);
    expect(kinds()).toEqual(['hot-key', 'hot-key-ended', 'hot-key']);
  });

  it('says nothing of a burst that passes in time', () => {
    const changed = watchOf(10);
    for (let burst = 0; burst < 20; burst += 1) {
      changed('a', 6);
      clock.advance(60);
      changed('a', 5);
      clock.advance(60);
    }
    expect(kinds()).toEqual([]);
    expect(clock.pending).toEqual([]);
  });

  it('follows another key that takes the place of the first', () => {
    const changed = watchOf(10);
    changed('a', 6);
    clock.advance(60);
    changed('a', 5);
    changed('b', 6);
    clock.advance(60);
    expect(kinds()).toEqual([]);
    clock.advance(40);
    expect(logger.matching(/key 'b'/)).toHaveLength(1);
  });

  it('says nothing of one message, of a prefetch of 1, or if it is off', () => {
    watchOf(1)('a', 1);
    watchOf(10, 0)('a', 10);
    clock.advance(10_000);
    expect(kinds()).toEqual([]);
  });

  it('forgets what RabbitMQ redelivers', () => {
    const changed = watchOf(10);
    const watch = changed('a', 6);
    watch.clear();
    clock.advance(1_000);
    changed('a', 6);
    clock.advance(100);
    watch.clear();
    changed('a', 1);
    expect(kinds()).toEqual(['hot-key']);
    expect(clock.pending).toEqual([]);
  });
});
