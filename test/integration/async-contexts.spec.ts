import { describe, expect, it } from 'vitest';
import { SettlementEvents } from '../../lib';
import { startApp } from '../support/app';
import { ContextRecorder, jobs, ways } from '../support/async-contexts';
import { openBroker, unique } from '../support/broker';
import { waitForEmpty } from '../support/forced';

describe('whatever belongs to a message runs in its asynchronous context', async () => {
  const broker = await openBroker();

  it.each(ways)('that %s sets', async (way) => {
    const queue = unique('contexts');
    const contexts = new ContextRecorder(way);
    const [Handler, ...others] = contexts.providers(queue);
    const { interceptors, imports, logger } = contexts;
    const { app, settled } = await startApp({
      providers: [Handler, ...others],
      imports,
      settle: { interceptors, logger },
    });
    app.get(SettlementEvents).subscribe(contexts.settled);
    const ids = Array.from({ length: 10 }, (_, index) => index);
    const messages = ids.flatMap((id) => jobs.map((does) => ({ id: `${does} ${id}`, does })));
    await Promise.all(messages.map((job) => broker.send(queue, job, { messageId: job.id })));
    await settled(messages.length + 20);
    await waitForEmpty(queue);
    expect(contexts.wrong).toEqual([]);
    expect(contexts.places).toMatchObject({
      handler: 80,
      andAfter: 60,
      signal: 10,
      rule: 20,
      'event of ack': 30,
      'event of drop': 30,
      'event of retry': 10,
      'event of retryAfter': 10,
    });
  });
});
