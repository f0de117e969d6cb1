import { afterEach, describe, expect, it, vi } from 'vitest';
import { SubscriptionLog, writeLine } from '../../../lib/log/subscription-log';
import { FakeClock } from '../../support/fake-clock';
import { HANDLER, oddValues, RecordingLogger } from '../fixtures';

function setUp() {
  const logger = new RecordingLogger();
  const clock = new FakeClock();
  return { logger, clock, log: new SubscriptionLog(logger, HANDLER, clock) };
}

function times(count: number, work: (index: number) => void): void {
  for (let index = 1; index <= count; index++) work(index);
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a line', () => {
  it('has the level of its kind, the handler, the kind in brackets and the context', () => {
    const { log, logger } = setUp();
    for (const kind of ['startup', 'no-ack', 'rejected', 'acknowledged'] as const) {
      log.write(kind, 'it happened');
    }
    expect(logger.lines).toEqual([
      { level: 'log', text: 'Billing.charge [startup] it happened', rest: ['Settle'] },
      { level: 'warn', text: 'Billing.charge [no-ack] it happened', rest: ['Settle'] },
      { level: 'error', text: 'Billing.charge [rejected] it happened', rest: ['Settle'] },
      { level: 'debug', text: 'Billing.charge [acknowledged] it happened', rest: ['Settle'] },
    ]);
  });

  it('has the level debug if the handler asked for what happened', () => {
    const { log, logger } = setUp();
    log.debug('rejected', 'it happened');
    expect(logger.lines).toEqual([
      { level: 'debug', text: 'Billing.charge [rejected] it happened', rest: ['Settle'] },
    ]);
  });

  it('of the level error has the stack before the context', () => {
    const { log, logger } = setUp();
    const error = new Error('why');
    log.write('rejected', 'it failed', error);
    log.write('rejected', 'it failed');
    log.write('no-ack', 'it failed', error);
    expect(logger.lines.map(({ rest }) => rest)).toEqual([
      [error.stack, 'Settle'],
      ['Settle'],
      ['Settle'],
    ]);
  });

  it('escapes control characters, in the stack all but line breaks', () => {
    const { log, logger } = setUp();
    const error = new Error('a\nb\u001b[31m');
    log.write('rejected', 'a\nb\u001b[31m\u2028', error);
    const [line] = logger.lines;
    expect(line?.text).toBe('Billing.charge [rejected] a\\u000ab\\u001b[31m\\u2028');
    expect(line?.rest[0]).toMatch(/^Error: a\\u000ab\\u001b\[31m\n {4}at /);
  });

  it('is made only if it is written', () => {
    const { log } = setUp();
    const text = vi.fn(() => 'a message');
    times(15, () => log.write('rejected', text));
    expect(text).toHaveBeenCalledTimes(10);
  });

  it.each(oddValues)('is written if %s was thrown', (_name, make) => {
    const { log, logger } = setUp();
    log.write('rejected', 'it failed', make());
    expect(logger.texts('error')).toEqual(['Billing.charge [rejected] it failed']);
  });
});

describe('the limit of 10 lines per second', () => {
  it('suppresses further lines, and the next line reports their number', () => {
    const { log, logger, clock } = setUp();
    times(25, (index) => log.write('rejected', `message ${index}`));
    expect(logger.texts()).toHaveLength(10);
    expect(logger.texts().at(-1)).toBe('Billing.charge [rejected] message 10');
    clock.advance(999);
    log.write('rejected', 'message 26');
    expect(logger.texts()).toHaveLength(10);
    clock.advance(1);
    log.write('rejected', 'message 27');
    expect(logger.texts()).toHaveLength(11);
    expect(logger.texts().at(-1)).toBe(
      'Billing.charge [rejected] message 27 (suppressed 16 similar [rejected] lines)',
    );
  });

  it('reports suppressed lines once', () => {
    const { log, logger, clock } = setUp();
    times(11, () => log.write('rejected', 'a message'));
    clock.advance(1_000);
    times(2, () => log.write('rejected', 'later'));
    expect(logger.texts().slice(10)).toEqual([
      expect.stringContaining('suppressed 1 similar [rejected] line)'),
      'Billing.charge [rejected] later',
    ]);
  });

  it('starts again each second', () => {
    const { log, logger, clock } = setUp();
    times(5, () => {
      times(100, () => log.write('rejected', 'a message'));
      clock.advance(1_000);
    });
    expect(logger.lines).toHaveLength(50);
    log.flush();
    const counts = logger.texts().map((text) => Number(/suppressed (\d+)/.exec(text)?.[1] ?? 0));
    expect(counts.reduce((sum, count) => sum + count, 50)).toBe(500);
  });

  it('counts each kind by itself, whatever the level', () => {
    const { log, logger } = setUp();
    times(12, () => log.write('no-ack', 'a message'));
    times(12, () => log.write('rejected', 'a message'));
    log.debug('no-ack', 'also suppressed');
    expect(logger.texts('warn')).toHaveLength(10);
    expect(logger.texts('error')).toHaveLength(10);
    expect(logger.texts('debug')).toHaveLength(0);
  });

  it('does not depend on the wall clock', () => {
    const { log, logger, clock } = setUp();
    times(12, () => log.write('rejected', 'a message'));
    clock.setWall(clock.now() - 3_600_000);
    clock.advance(1_000);
    log.write('rejected', 'later');
    expect(logger.texts()).toHaveLength(11);
  });

  it('does not affect lines below it', () => {
    const { log, logger, clock } = setUp();
    times(60, () => {
      log.write('rejected', 'a message');
      clock.advance(150);
    });
    expect(new Set(logger.texts())).toEqual(new Set(['Billing.charge [rejected] a message']));
    expect(logger.lines).toHaveLength(60);
  });
});

describe('flush', () => {
  it('reports suppressed lines of each kind, once', () => {
    const { log, logger } = setUp();
    times(13, () => log.write('rejected', 'a message'));
    times(11, () => log.write('requeued', 'a message'));
    times(10, () => log.write('predicate-failed', 'a rule'));
    logger.lines.length = 0;
    log.flush();
    log.flush();
    expect(logger.lines).toMatchObject([
      {
        level: 'error',
        text: 'Billing.charge [rejected] suppressed 3 similar [rejected] lines',
      },
      { level: 'log', text: 'Billing.charge [requeued] suppressed 1 similar [requeued] line' },
    ]);
  });

  it('reports debug lines at that level, unless another line was suppressed too', () => {
    const { log, logger, clock } = setUp();
    times(12, () => log.debug('rejected', 'a message'));
    log.flush();
    expect(logger.texts('debug').at(-1)).toContain('suppressed 2 similar [rejected] lines');
    expect(logger.texts('error')).toEqual([]);
    clock.advance(1_000);
    times(11, () => log.debug('rejected', 'a message'));
    log.write('rejected', 'a message');
    log.debug('rejected', 'a message');
    log.flush();
    expect(logger.texts('error')).toEqual([
      'Billing.charge [rejected] suppressed 3 similar [rejected] lines',
    ]);
  });
});

describe('a logger', () => {
  it('that throws does no harm: its line becomes a warning of the process', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const logger = new RecordingLogger();
    logger.warn = () => {
      throw new Error('disk full');
    };
    const log = new SubscriptionLog(logger, HANDLER, new FakeClock());
    log.write('no-ack', 'a message');
    log.write('rejected', 'another');
    expect(warned).toHaveBeenCalledOnce();
    expect(warned.mock.calls[0]?.[0]).toMatch(/disk full.*Billing\.charge \[no-ack\] a message/);
    expect(logger.texts()).toEqual(['Billing.charge [rejected] another']);
  });

  it('that throws a value that cannot be shown does no harm either', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    for (const [, make] of oddValues) {
      const logger = new RecordingLogger();
      logger.log = () => {
        throw make();
      };
      writeLine(logger, 'startup', 'a line');
    }
    expect(warned).toHaveBeenCalledTimes(oddValues.length);
  });

  it('may lack debug, and is called as its own method', () => {
    const lines: string[] = [];
    const logger = {
      prefix: '> ',
      log(line: string): void {
        lines.push(this.prefix + line);
      },
      warn(): void {},
      error(): void {},
    };
    writeLine(logger, 'acknowledged', 'not written');
    writeLine(logger, 'startup', 'written');
    expect(lines).toEqual(['> [startup] written']);
  });
});
