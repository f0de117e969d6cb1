import { ConsoleLogger } from '@nestjs/common';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openBroker, startApp, unique } from '../support/environment';
import { until } from '../support/eventually';
import { handlerOf } from '../support/handlers';

describe('structuredLogs', async () => {
  const broker = await openBroker();
  afterEach(() => {
    vi.restoreAllMocks();
  });

  interface Line {
    readonly level: string;
    readonly context: string;
    readonly stack?: string;
    readonly message: Readonly<Record<string, unknown>> | string;
  }

  /** The lines that Nest's own logger writes as JSON, one object each. */
  async function linesOf(structuredLogs: boolean | undefined): Promise<Line[]> {
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr]) {
      vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0);
    }
    const [queue, dead] = [unique('logged'), unique('dead')];
    const Handler = handlerOf({ queue, deadLetter: dead, retry: { attempts: 3 } }, () => {
      throw new Error('no answer\nfrom the bank');
    });
    const app = await startApp({
      providers: [Handler],
      settle: {
        logger: new ConsoleLogger({ json: true, colors: false, compact: true }),
        ...(structuredLogs !== undefined && { structuredLogs }),
      },
    });
    await broker.send(queue, {}, { messageId: 'one' });
    await app.settled(1);
    await until(() => written.some((text) => text.includes('[dead-lettered]')));
    vi.restoreAllMocks();
    return written
      .filter((text) => text.startsWith('{'))
      .map((text): Line => JSON.parse(text))
      .filter(({ context }) => context === 'Settle');
  }

  const lineOf = (lines: readonly Line[], kind: string) =>
    lines.find(({ message }) => JSON.stringify(message).includes(`[${kind}]`));

  it('are objects with the facts beside the text', async () => {
    const lines = await linesOf(true);
    const line = lineOf(lines, 'dead-lettered');
    expect(line).toMatchObject({
      level: 'error',
      stack: expect.stringContaining('no answer'),
      message: {
        message: expect.stringMatching(/^Handler\.handle \[dead-lettered\] message "one"/),
        kind: 'dead-lettered',
        handler: 'Handler.handle',
        queue: expect.stringMatching(/^logged/),
        messageId: 'one',
        attempt: 1,
        attempts: 3,
        decision: 'deadLetter',
        reason: 'error',
        errorName: 'Error',
        errorMessage: 'no answer\nfrom the bank',
      },
    });
    expect(lineOf(lines, 'startup')?.message).toMatchObject({
      kind: 'startup',
      handler: 'Handler.handle',
    });
  });

  it('are texts if it is not set', async () => {
    const lines = await linesOf(undefined);
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter(({ message }) => typeof message !== 'string')).toEqual([]);
  });
});
