import { describe, expect, it } from 'vitest';
import { groupQueues, type QueueInfo } from '../../../lib/cli/queue-groups';
import { managedQueues } from '../../../lib/cli/queue-sources';
import { waitingQueueName } from '../../../lib/delivery/waiting-queue';

function queue(name: string, ready: number, more: Partial<QueueInfo> = {}): QueueInfo {
  return { name, ready, consumers: 0, ...more };
}

describe('groupQueues', () => {
  it('counts what waits and what is dead with its queue', () => {
    const groups = groupQueues([
      queue('billing', 3, { unacknowledged: 2, consumers: 1 }),
      queue('billing.wait.1000', 4),
      queue('billing.waitq.60000', 5, { unacknowledged: 1 }),
      queue('billing.dead', 7),
      queue('mail', 0, {
        arguments: { 'x-dead-letter-exchange': '', 'x-dead-letter-routing-key': 'parked' },
      }),
      queue('parked', 9),
      queue('audit', 1),
    ]);
    expect(groups).toMatchObject([
      {
        ...{ name: 'billing', ready: 3, unacknowledged: 2, consumers: 1 },
        ...{ waiting: 10, dead: 7, deadLetterQueue: 'billing.dead' },
      },
      { name: 'mail', waiting: 0, dead: 9, deadLetterQueue: 'parked' },
      { name: 'audit', waiting: 0, dead: undefined },
    ]);
    expect(groups).toHaveLength(3);
  });

  it('finds the queue of a waiting queue whose name is shortened', () => {
    const name = 'q'.repeat(250);
    const groups = groupQueues([queue(name, 0), queue(waitingQueueName(name, 'classic', 5), 2)]);
    expect(groups).toMatchObject([{ name, waiting: 2 }]);
  });

  it('keeps a queue that only looks like a waiting queue', () => {
    expect(groupQueues([queue('orders.wait.9999999999', 1)])).toHaveLength(1);
  });
});

describe('managedQueues', () => {
  it('asks for the queues of one virtual host, with the credentials of the URL', async () => {
    const asked: { url: string; headers: unknown }[] = [];
    const load = (async (url: string, { headers }: { headers: unknown }) => {
      asked.push({ url, headers });
      return { ok: true, json: async () => [{ name: 'q', messages_ready: 2 }] };
    }) as unknown as typeof fetch;
    const url = 'http://us%40er:pass@host:15672/api/';
    expect(await managedQueues(url, 'a/b', load)).toEqual([
      { name: 'q', ready: 2, unacknowledged: 0, consumers: 0, arguments: {} },
    ]);
    expect(asked[0]?.url).toMatch(/^http:\/\/host:15672\/api\/queues\/a%2Fb\?/);
    const authorization = `Basic ${Buffer.from('us@er:pass').toString('base64')}`;
    expect(asked[0]?.headers).toEqual({ authorization });
  });

  it('rejects with the status that the server replies', async () => {
    const load = (async () => ({ ok: false, status: 401 })) as unknown as typeof fetch;
    await expect(managedQueues('http://host:15672', '/', load)).rejects.toThrow('401');
  });
});
