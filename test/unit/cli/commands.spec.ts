import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../lib/cli/program';
import { systemClock } from '../../../lib/clock';
import { DeadLetters } from '../../../lib/dead-letters/dead-letters';
import { MemoryQueueClient } from '../../../lib/memory/memory-queue-client';
import { MemoryServer } from '../../../lib/memory/memory-server';
import { UrlConnection } from '../../../lib/rabbitmq/url-connection';
import { type TestHostOptions, testHost } from '../../support/cli-host';
import { MemoryClient } from '../../support/memory-client';

const URL = 'amqp://memory.invalid';
const [QUEUE, DEAD] = ['billing', 'billing.dead'];

describe('a command, on the server in memory', () => {
  let server: MemoryServer;
  let client: MemoryClient;
  /** Clients and services that are open. */
  let open = 0;
  const urls: string[] = [];

  // Only what reaches a server by an URL is replaced.
  beforeEach(async () => {
    server = new MemoryServer(systemClock, [4, 3]);
    client = new MemoryClient(server);
    [open, urls.length] = [0, 0];
    const openQueueClient = async () => new MemoryQueueClient({ server, owner: {} }, systemClock);
    const closing = async (): Promise<void> => {
      open -= 1;
    };
    vi.spyOn(DeadLetters, 'connect').mockImplementation(async (url) => {
      urls.push(url);
      open += 1;
      return DeadLetters.over({ clock: systemClock, open: openQueueClient, close: closing });
    });
    vi.spyOn(UrlConnection, 'open').mockImplementation(async (url) => {
      urls.push(url);
      open += 1;
      return { openQueueClient, close: closing } as unknown as UrlConnection;
    });
    for (const queue of [QUEUE, DEAD]) await client.declare(queue);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    expect(open).toBe(0);
  });

  async function run(parameters: readonly string[], options: TestHostOptions = {}) {
    const host = testHost(options);
    const code = await runCli([...parameters, '--url', URL], host);
    return { code, ...host.written };
  }

  async function deadLetters(count: number, more: object = {}): Promise<void> {
    for (let id = 1; id <= count; id += 1) {
      const headers = {
        ...{ 'x-settle-reason': 'error', 'x-settle-queue': QUEUE },
        'x-settle-error-name': id % 2 === 0 ? 'RangeError' : 'BankTimeout',
        'x-settle-error-message': `failed after ${id} ms`,
        ...more,
      };
      await client.send(DEAD, { id }, { messageId: `m-${id}`, headers });
    }
  }

  it('lists groups and messages, and connects to the URL', async () => {
    await deadLetters(5);
    const { code, out, err } = await run(['dead', 'list', DEAD, '--limit', '2']);
    expect([code, err, urls]).toEqual([0, '', [URL]]);
    expect(out).toContain(`${DEAD}: all 5 messages\n`);
    expect(out).toContain('     3  error  BankTimeout\n');
    expect(out).toContain('and 3 more; --limit shows more\n');
    const one = await run(['dead', 'list', DEAD, '--error', 'RangeError', '--json']);
    expect(JSON.parse(one.out)).toMatchObject({ scanned: 5, matched: 2, groups: [{ count: 2 }] });
    expect(await client.ready(DEAD)).toBe(5);
  });

  it('shows one message, and fails if it is not there', async () => {
    await deadLetters(1);
    const listed = JSON.parse((await run(['dead', 'list', DEAD, '--json'])).out);
    const shown = await run(['dead', 'show', DEAD, listed.letters[0].id]);
    expect(shown.code).toBe(0);
    expect(shown.out).toContain('Body (8 bytes)\n  {\n    "id": 1\n  }\n');
    expect(await run(['dead', 'show', DEAD, 'other'])).toMatchObject({ code: 1, out: '' });
  });

  it('replays what is selected, and counts it first in a dry run', async () => {
    await deadLetters(5);
    const selected = ['--error', 'BankTimeout'];
    const planned = await run(['dead', 'replay', DEAD, ...selected, '--dry-run']);
    expect(planned.out).toContain(`Dry run: 3 messages would be replayed.\n  3 to ${QUEUE}\n`);
    expect(await client.ready(QUEUE)).toBe(0);
    const replayed = await run(['dead', 'replay', DEAD, ...selected], { isTerminal: true });
    expect(replayed.code).toBe(0);
    expect(replayed.out).toContain('3 messages replayed.');
    expect([await client.ready(QUEUE), await client.ready(DEAD)]).toEqual([3, 2]);
  });

  it('names what is not replayed, and exits with 3', async () => {
    await deadLetters(7, { 'x-settle-queue': 'missing' });
    const { code, out } = await run(['dead', 'replay', DEAD]);
    expect(code).toBe(3);
    expect(out).toMatch(
      /\n {2}7 not replayed: queue "missing" does not exist\n {4}[0-9a-f]{16} {2}m-1\n/,
    );
    expect(out).toContain('  m-5\n    and 2 more\n');
    const { out: json } = await run(['dead', 'replay', DEAD, '--json']);
    expect(JSON.parse(json).failures).toMatchObject([{ cause: 'target-missing', count: 7 }]);
    expect(await client.ready(DEAD)).toBe(7);
  });

  it('deletes only with a token or after a question', async () => {
    await deadLetters(3);
    expect((await run(['dead', 'discard', DEAD])).code).toBe(2);
    const no = await run(['dead', 'discard', DEAD], { isTerminal: true, answer: 'no' });
    expect([no.code, await client.ready(DEAD)]).toEqual([2, 3]);
    const counted = await run(['dead', 'discard', DEAD, '--error', 'RangeError', '--dry-run']);
    const token = /--confirm (\S+),/.exec(counted.out)?.[1] ?? '';
    expect((await run(['dead', 'discard', DEAD, '--confirm', token])).code).toBe(2);
    const sure = ['--error', 'RangeError', '--confirm', token];
    const one = await run(['dead', 'discard', DEAD, ...sure]);
    expect([one.code, await client.ready(DEAD)]).toEqual([0, 2]);
    const yes = await run(['dead', 'discard', DEAD], { isTerminal: true, answer: 'yes' });
    expect([yes.code, await client.ready(DEAD)]).toEqual([0, 0]);
  });

  it('counts queues with what waits and what is dead', async () => {
    await deadLetters(2);
    await client.declare(`${QUEUE}.wait.1000`);
    await client.send(`${QUEUE}.wait.1000`, {});
    await client.send(QUEUE, {});
    const { out } = await run(['queues', QUEUE]);
    const row = out.trim().split('\n')[1];
    expect(row?.split(/ {2,}/)).toEqual([QUEUE, '1', '-', '0', '1', '2', DEAD]);
  });

  it.each([
    [['dead', 'list', 'missing'], 1],
    [['dead', 'replay', 'missing'], 1],
    [['queues', 'missing'], 1],
    [['queues'], 2],
    [['dead', 'list', DEAD, '--limit', 'many'], 2],
    [['dead', 'replay', DEAD, '--to', DEAD], 2],
  ])('%j exits with %i and says why', async (parameters, code) => {
    const failed = await run(parameters);
    expect([failed.code, failed.out]).toEqual([code, '']);
    expect(failed.err.trim()).not.toBe('');
  });

  it('exits with 1 and the reason if there is no server', async () => {
    vi.spyOn(DeadLetters, 'connect').mockRejectedValue(new Error('connect ECONNREFUSED'));
    const failed = await run(['dead', 'list', DEAD]);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('ECONNREFUSED');
  });
});
