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
  it.each(['warn', 'debug'] as const)(
    'of the level %s names the handler and the context',
    (level) => {
      const { log, logger } = setUp();
      log[level]('kind', 'it happened');
      expect(logger.lines).toEqual([
        { level, text: 'Billing.charge: it happened', rest: ['Settle'] },
      ]);
    },
  );

  it('of the level info is a line of Nest’s log', () => {
    const { log, logger } = setUp();
    log.info('kind', 'it happened');
    expect(logger.lines).toMatchObject([{ level: 'log', text: 'Billing.charge: it happened' }]);
  });

  it('of an error has the stack before the context', () => {
    const { log, logger } = setUp();
    const error = new Error('why');
    log.error('kind', 'it failed', error);
    log.error('kind', 'it failed');
    expect(logger.lines.map(({ rest }) => rest)).toEqual([[error.stack, 'Settle'], ['Settle']]);
  });

  it.each(oddValues)('is written for %s that was thrown, too', (_name, make) => {
    const { log, logger } = setUp();
    log.error('kind', 'it failed', make());
    expect(logger.texts('error')).toEqual(['Billing.charge: it failed']);
  });
});

describe('the limit of 10 lines a second', () => {
  it('holds the others back, and the next line tells how many', () => {
    const { log, logger, clock } = setUp();
    times(25, (index) => log.warn('failed', `message ${index}`));
    expect(logger.texts()).toHaveLength(10);
    expect(logger.texts().at(-1)).toBe('Billing.charge: message 10');
    clock.advance(999);
    log.warn('failed', 'message 26');
    expect(logger.texts()).toHaveLength(10);
    clock.advance(1);
    log.warn('failed', 'message 27');
    expect(logger.texts()).toHaveLength(11);
    expect(logger.texts().at(-1)).toMatch(
      /^Billing\.charge: message 27 \(16 more lines .*"failed"/,
    );
  });

  it('counts what was held back once', () => {
    const { log, logger, clock } = setUp();
    times(11, () => log.warn('failed', 'a message'));
    clock.advance(1_000);
    times(2, () => log.warn('failed', 'later'));
    expect(logger.texts().slice(10)).toEqual([
      expect.stringContaining('1 more line of'),
      'Billing.charge: later',
    ]);
  });

  it('begins anew each second, as long as it lasts', () => {
    const { log, logger, clock } = setUp();
    times(5, () => {
      times(100, () => log.warn('failed', 'a message'));
      clock.advance(1_000);
    });
    expect(logger.lines).toHaveLength(50);
    log.flush();
    const counts = logger.texts().map((text) => Number(/(\d+) more/.exec(text)?.[1] ?? 0));
    expect(counts.reduce((sum, count) => sum + count, 50)).toBe(500);
  });

  it('is one for each kind, whatever the level', () => {
    const { log, logger } = setUp();
    times(12, () => log.warn('failed', 'a message'));
    times(12, () => log.error('rule', 'a rule'));
    log.debug('failed', 'held back as well');
    expect(logger.texts('warn')).toHaveLength(10);
    expect(logger.texts('error')).toHaveLength(10);
    expect(logger.texts('debug')).toHaveLength(0);
  });

  it('does not depend on the wall clock', () => {
    const { log, logger, clock } = setUp();
    times(12, () => log.warn('failed', 'a message'));
    clock.setWall(clock.now() - 3_600_000);
    clock.advance(1_000);
    log.warn('failed', 'later');
    expect(logger.texts()).toHaveLength(11);
  });

  it('leaves lines alone that come slowly', () => {
    const { log, logger, clock } = setUp();
    times(60, () => {
      log.warn('failed', 'a message');
      clock.advance(150);
    });
    expect(new Set(logger.texts())).toEqual(new Set(['Billing.charge: a message']));
    expect(logger.lines).toHaveLength(60);
  });
});

describe('flush', () => {
  it('tells for each kind what was held back, once', () => {
    const { log, logger } = setUp();
    times(13, () => log.warn('failed', 'a message'));
    times(11, () => log.info('released', 'a message'));
    times(10, () => log.error('rule', 'a rule'));
    logger.lines.length = 0;
    log.flush();
    log.flush();
    expect(logger.texts()).toEqual([
      expect.stringMatching(/^Billing\.charge: 3 more lines .*"failed"/),
      expect.stringMatching(/^Billing\.charge: 1 more line .*"released"/),
    ]);
  });
});

describe('what was held back of the level debug', () => {
  it('is told at that level, and once another line was held back as well, as a warning', () => {
    const { log, logger, clock } = setUp();
    times(12, () => log.debug('settled', 'a message'));
    log.flush();
    expect(logger.texts('debug').at(-1)).toMatch(/2 more lines .*"settled"/);
    expect(logger.texts('warn')).toEqual([]);
    clock.advance(1_000);
    times(11, () => log.debug('settled', 'a message'));
    log.warn('settled', 'a message');
    log.debug('settled', 'a message');
    log.flush();
    expect(logger.texts('warn')).toEqual([
      expect.stringMatching(/^Billing\.charge: 3 more lines .*"settled"/),
    ]);
  });
});

describe('a logger', () => {
  it('that throws harms nothing: the process warns of what it was given', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const logger = new RecordingLogger();
    logger.warn = () => {
      throw new Error('disk full');
    };
    const log = new SubscriptionLog(logger, HANDLER, new FakeClock());
    log.warn('failed', 'a message');
    log.error('failed', 'another');
    expect(warned).toHaveBeenCalledOnce();
    expect(warned.mock.calls[0]?.[0]).toMatch(/disk full.*Billing\.charge: a message/);
    expect(logger.texts()).toEqual(['Billing.charge: another']);
  });

  it('that throws something that can not be shown harms nothing either', () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    for (const [, make] of oddValues) {
      const logger = new RecordingLogger();
      logger.log = () => {
        throw make();
      };
      writeLine(logger, 'log', 'a line');
    }
    expect(warned).toHaveBeenCalledTimes(oddValues.length);
  });

  it('need not have a level for debugging, and is called as its own method', () => {
    const lines: string[] = [];
    const logger = {
      prefix: '> ',
      log(line: string): void {
        lines.push(this.prefix + line);
      },
      warn(): void {},
      error(): void {},
    };
    writeLine(logger, 'debug', 'not to be seen');
    writeLine(logger, 'log', 'seen');
    expect(lines).toEqual(['> seen']);
  });
});
