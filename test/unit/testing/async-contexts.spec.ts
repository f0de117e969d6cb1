import { expect, it } from 'vitest';
import { SettlementEvents } from '../../../lib';
import { ContextRecorder, jobs, ways } from '../../support/async-contexts';
import { start } from './app';

it.each(ways)(
  'whatever belongs to a message runs in its asynchronous context that %s sets',
  async (way) => {
    const contexts = new ContextRecorder(way);
    const { interceptors, imports, logger } = contexts;
    const test = await start({
      providers: contexts.providers('work'),
      imports,
      settle: { interceptors, logger },
    });
    test.get(SettlementEvents).subscribe(contexts.settled);
    const ids = Array.from({ length: 10 }, (_, index) => index);
    for (const id of ids) {
      for (const does of jobs) {
        const job = { id: `${does} ${id}`, does };
        await test.publish('', 'work', job, { messageId: job.id });
      }
    }
    await test.advance('1s');
    expect(contexts.wrong).toEqual([]);
    expect(contexts.places).toMatchObject({ handler: 80, andAfter: 60, signal: 10, rule: 20 });
  },
);
