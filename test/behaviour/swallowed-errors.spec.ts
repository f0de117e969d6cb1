import { Catch, type ExceptionFilter, Injectable, type Type, UseFilters } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { ack, Subscribe } from '../../lib';
import { openBroker, startApp, unique } from '../support/environment';

describe('an exception filter that returns no outcome', async () => {
  const broker = await openBroker();

  async function filtered(catching: () => unknown, error: unknown, messages = 3) {
    const queue = unique('swallowed');
    @Catch()
    class Quiet implements ExceptionFilter {
      catch(): unknown {
        return catching();
      }
    }
    const handlerOf = (name: string): Type => {
      @Injectable()
      @UseFilters(Quiet)
      class Handler {
        @Subscribe({ queue: `${queue}.${name}`, deadLetter: `${queue}.dead`, onPanic: 'drop' })
        handle(): void {
          throw error;
        }
      }
      return Handler;
    };
    const app = await startApp({ providers: [handlerOf('one'), handlerOf('two')] });
    for (let n = 1; n <= messages; n += 1) {
      await broker.send(`${queue}.one`, {}, { messageId: `m${n}` });
    }
    await broker.send(`${queue}.two`, {}, { messageId: 'm1' });
    const settlements = await app.settled(messages + 1);
    const lines = app.log.lines.filter(({ text }) => text.includes('[swallowed-error]'));
    return { settlements, lines };
  }

  it.each<[what: string, catching: () => unknown]>([
    ['a promise of nothing', async () => undefined],
    ['a promise of a response', async () => ({ statusCode: 500 })],
    ['a response', () => ({ statusCode: 500 })],
  ])('but %s is warned of once per subscription, and the error stands', async (_what, catching) => {
    const { settlements, lines } = await filtered(catching, new Error('declined'));
    expect(settlements.map(({ decision }) => decision.kind)).toEqual(Array(4).fill('deadLetter'));
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'warn']);
    expect(lines[0]?.text).toMatch(
      /^Handler\.handle \[swallowed-error\] message "m1" .*Quiet.*ack\(\)/,
    );
  });

  it('does not hide a panic, and is warned of as well', async () => {
    const { settlements, lines } = await filtered(async () => undefined, new TypeError('bug'), 1);
    expect(settlements[0]?.decision).toEqual({ kind: 'deadLetter', reason: 'panic' });
    expect(lines).toHaveLength(2);
  });

  it.each<[what: string, catching: () => unknown, error: unknown]>([
    ['it returns an outcome', async () => ack(), new Error('declined')],
    ['the handler threw an outcome', async () => undefined, ack()],
    [
      'it throws',
      () => {
        throw new Error('translated');
      },
      new Error('declined'),
    ],
  ])('is not warned of if %s', async (_what, catching, error) => {
    const { lines } = await filtered(catching, error, 1);
    expect(lines).toEqual([]);
  });
});
