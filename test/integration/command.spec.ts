import { describe, expect, it } from 'vitest';
import { runCli } from '../../lib/cli/program';
import { openBroker, unique, url } from '../support/broker';
import { type TestHostOptions, testHost } from '../support/cli-host';

describe('nestjs-settle', async () => {
  const broker = await openBroker();

  async function run(parameters: readonly string[], options: TestHostOptions = {}) {
    const host = testHost({ env: { RABBITMQ_URL: url }, ...options });
    const code = await runCli([...parameters, '--url', url], host);
    return { code, ...host.written };
  }

  /** A queue, and its dead-letter queue with so many messages. */
  async function billing(count: number): Promise<{ queue: string; dead: string }> {
    const queue = unique('billing');
    const dead = `${queue}.dead`;
    await broker.declare(queue);
    await broker.declare(dead);
    for (let id = 1; id <= count; id += 1) {
      const headers = {
        'x-settle-reason': id % 2 === 0 ? 'error' : 'timeout',
        'x-settle-error-name': id % 2 === 0 ? 'RangeError' : 'BankTimeout',
        'x-settle-error-message': `failed after ${id} ms`,
        'x-settle-failed-at': `2026-12-01T08:00:0${id % 10}.000Z`,
        'x-settle-queue': queue,
      };
      await broker.send(dead, { id }, { messageId: `m-${id}`, headers });
    }
    await broker.waitForReady(dead, count);
    return { queue, dead };
  }

  it('lists, shows, replays and discards dead letters', async () => {
    const { queue, dead } = await billing(5);
    const list = await run(['dead', 'list', dead, '--limit', '2']);
    expect(list).toMatchObject({ code: 0, err: '' });
    expect(list.out).toContain(`${dead}: all 5 messages\n`);
    expect(list.out).toContain('     3  timeout  BankTimeout\n        failed after <n> ms\n');
    expect(list.out).toContain('and 3 more; --limit shows more\n');
    expect(list.out).not.toContain('\u001b');
    const id = /^([0-9a-f]{16}) {2}m-1 /m.exec(list.out)?.[1] as string;
    const shown = await run(['dead', 'show', dead, id]);
    expect(shown.out).toContain('Body (8 bytes)\n  {\n    "id": 1\n  }\n');
    expect(await run(['dead', 'show', dead, 'other'])).toMatchObject({ code: 1, out: '' });
    const planned = await run(['dead', 'replay', dead, '--error', 'BankTimeout', '--dry-run']);
    expect(planned.out).toContain(`Dry run: 3 messages would be replayed.\n  3 to ${queue}\n`);
    const replayed = await run(['dead', 'replay', dead, '--error', 'BankTimeout']);
    expect(replayed).toMatchObject({ code: 0, err: '' });
    expect(replayed.out).toContain('3 messages replayed.\n');
    await broker.waitForReady(queue, 3);
    const counted = await run(['dead', 'discard', dead, '--dry-run']);
    const token = /--confirm (\S+),/.exec(counted.out)?.[1] as string;
    expect((await run(['dead', 'discard', dead])).code).toBe(2);
    expect(await broker.ready(dead)).toBe(2);
    const discarded = await run(['dead', 'discard', dead, '--confirm', token]);
    expect(discarded.out).toContain('2 messages deleted.\n');
    await broker.waitForReady(dead, 0);
  });

  it('writes JSON', async () => {
    const { dead } = await billing(2);
    const { out } = await run(['dead', 'list', dead, '--json', '--reason', 'error']);
    expect(JSON.parse(out)).toMatchObject({
      ...{ queue: dead, total: 2, scanned: 2, matched: 1 },
      letters: [{ messageId: 'm-2', failedAt: '2026-12-01T08:00:02.000Z' }],
    });
    const [letter] = JSON.parse(out).letters;
    const shown = await run(['dead', 'show', dead, letter.id, '--json']);
    expect(JSON.parse(shown.out)).toMatchObject({ bodyText: '{"id":2}', body: 'eyJpZCI6Mn0=' });
    const discarded = await run(['dead', 'discard', dead, '--json', '--dry-run']);
    expect(JSON.parse(discarded.out)).toMatchObject({ matched: 2, discarded: 0, dryRun: true });
  });

  it('asks in a terminal, with colours and a bar', async () => {
    const { dead } = await billing(4);
    const terminal = { isTerminal: true, columns: 60 };
    const listed = await run(['dead', 'list', dead], terminal);
    expect(listed.out).toContain('\u001b[1m');
    const replayed = await run(['dead', 'replay', dead, '--limit', '1'], terminal);
    expect(replayed.err).toContain('█');
    const no = await run(['dead', 'discard', dead], { ...terminal, answer: 'no' });
    expect(no.code).toBe(2);
    expect(await broker.ready(dead)).toBe(3);
    const yes = await run(['dead', 'discard', dead], { ...terminal, answer: 'yes' });
    expect(yes.code).toBe(0);
    await broker.waitForReady(dead, 0);
  });

  it('exits with 3 if something stays, with 130 if it is interrupted, with 1 without the queue', async () => {
    const { dead } = await billing(3);
    const partly = await run(['dead', 'replay', dead, '--to', unique('missing')]);
    expect(partly.code).toBe(3);
    expect(partly.out).toContain('does not exist\n');
    const host = testHost();
    const running = runCli(['dead', 'replay', dead, '--rate', '1', '--url', url], host);
    const interrupting = setInterval(() => host.interrupt(), 20);
    expect(await running).toBe(130);
    clearInterval(interrupting);
    expect((await run(['dead', 'list', unique('missing')])).code).toBe(1);
  });

  it('shows queues with what waits and what is dead', async () => {
    const { queue } = await billing(2);
    await broker.declare(`${queue}.wait.1000`);
    await broker.send(`${queue}.wait.1000`, {});
    await broker.send(queue, {});
    const { out } = await run(['queues', queue]);
    const [head, row] = out.trim().split('\n');
    expect(head?.split(/ {2,}/)).toEqual([
      ...['QUEUE', 'READY', 'UNACKED', 'CONSUMERS', 'WAITING', 'DEAD', 'DEAD-LETTER QUEUE'],
    ]);
    expect(row?.split(/ {2,}/)).toEqual([queue, '1', '-', '0', '1', '2', `${queue}.dead`]);
  });
});
