import { describe, expect, it } from 'vitest';
import { openBroker, unique, url } from '../support/broker';
import { until } from '../support/eventually';
import { ChildApp } from '../support/process/child-app';
import { useCompiledFixtures } from '../support/process/compiled';
import type { TracedSettings } from './fixtures/traced';

type Traced = Omit<TracedSettings, 'url'>;

describe("OpenTelemetry's instrumentation of amqplib", async () => {
  const broker = await openBroker();
  const fixtures = useCompiledFixtures();

  async function start(traced: Traced): Promise<ChildApp> {
    const settings: TracedSettings = { url, ...traced };
    const child = new ChildApp(fixtures.pathOf('traced'), { settings });
    await child.waitFor('ready');
    return child;
  }

  /** How the spans of a message have ended. */
  const endsOf = (child: ChildApp, id: string): (string | undefined)[] =>
    child
      .reported('span ended')
      .filter((one) => one.id === id)
      .map(({ text }) => text);

  async function close(child: ChildApp): Promise<void> {
    child.signal('SIGUSR2');
    await child.waitFor('closed');
  }

  const settlements: [string, Traced['does'], Partial<Traced['options']>, string[]][] = [
    ['an acknowledgement', 'ack', {}, ['ack']],
    ['a reject', 'drop', {}, ['reject']],
    ['a dead letter', 'drop', { deadLetter: unique('dead') }, ['ack']],
    ['a message that is republished', 'retry', { retry: { attempts: 2 } }, ['ack', 'reject']],
    [
      'a message that is requeued',
      'retry',
      { retry: { attempts: 2 }, queueType: 'quorum' },
      ['reject', 'reject'],
    ],
  ];

  it.each(settlements)('ends the span of %s', async (_what, does, options, ends) => {
    const queue = unique('traced');
    const child = await start({ does, options: { queue, ...options } });
    await broker.send(queue, {}, { messageId: 'one' });
    await child.waitFor('span ended', ends.length);
    // A republished message can arrive before the acknowledgement of the one that it replaces.
    expect(endsOf(child, 'one').sort()).toEqual(ends);
    expect(child.reported('span started')).toHaveLength(ends.length);
    await close(child);
  });

  it('is the parent of the spans of this package, which are internal ones and end as well', async () => {
    const queue = unique('both');
    const options = { queue, retry: { attempts: 2 }, deadLetter: unique('dead') };
    const child = await start({ does: 'retry', ownSpans: true, options });
    await broker.send(queue, {}, { messageId: 'one' });
    await child.waitFor('span ended', 2);
    await child.waitFor('own span ended', 2);
    const own = child.reported('own span ended').map(({ id, text }) => `${id} ${text}`);
    expect(own.sort()).toEqual(['one INTERNAL child deadLetter', 'one INTERNAL child republish']);
    expect(child.reported('span started')).toHaveLength(2);
    await close(child);
  });

  it('ends the span of each message that one acknowledgement covers', async () => {
    const queue = unique('joined');
    await broker.declare(queue);
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
    for (const id of ids) await broker.send(queue, {}, { messageId: id });
    const child = await start({ does: 'ack', options: { queue, prefetch: 20 } });
    await child.waitFor('span ended', ids.length);
    const ended = child.reported('span ended').map(({ id, text }) => `${id} ${text}`);
    expect(ended.sort()).toEqual(ids.map((id) => `${id} ack`).sort());
    await close(child);
  });

  it('ends the span of a message that is requeued at shutdown', async () => {
    const queue = unique('traced');
    const child = await start({ does: 'hang', options: { queue } });
    await broker.send(queue, {}, { messageId: 'one' });
    await child.waitFor('span started');
    await close(child);
    expect(endsOf(child, 'one')).toEqual(['nack']);
    expect(await broker.ready(queue)).toBe(1);
  });

  it('ends the span of a message that is left unacknowledged with its channel', async () => {
    const queue = unique('traced');
    const child = await start({ does: 'panic', options: { queue } });
    await broker.send(queue, {}, { messageId: 'one' });
    await child.waitFor('failed fast');
    expect(endsOf(child, 'one')).toEqual(['channel closed']);
    await until(async () => (await broker.ready(queue)) === 1);
    await close(child);
  });
});
