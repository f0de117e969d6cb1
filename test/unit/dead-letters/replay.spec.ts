import { describe, expect, it } from 'vitest';
import type { QueueClient } from '../../../lib/amqp/queue-client';
import type { PublishResult, WriteOptions } from '../../../lib/amqp/republish-transport';
import { systemClock } from '../../../lib/clock';
import type { ReplayOptions } from '../../../lib/dead-letters/options';
import { replayLetters } from '../../../lib/dead-letters/replay';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { messageOf } from './fixtures';

const LIMITS = { frame: 131_072, headerTable: 65_536 };

const dead = { 'x-settle-reason': 'error', 'x-settle-queue': 'billing' };

/** A broker with these messages, and what was done with each, in order. */
class FakeBroker {
  readonly done: string[] = [];

  constructor(
    private readonly messages: readonly IncomingMessage[],
    private readonly publish: (id: string) => Promise<PublishResult>,
    private readonly isWritten = true,
    /** Publishes what cannot be written at once. */
    private readonly later?: (id: string, isAlone: boolean) => Promise<PublishResult>,
  ) {}

  get client(): QueueClient {
    const waiting = [...this.messages];
    const { done, publish, isWritten, later } = this;
    return {
      version: [4, 3],
      counts: async () => ({ ready: waiting.length, consumers: 0 }),
      hold: async () => ({
        next: async () => {
          const message = waiting.shift();
          if (message === undefined) return undefined;
          const id = message.properties.messageId;
          return {
            message,
            acknowledge: (written: (isWritten: boolean) => void) => {
              done.push(`ack ${id}`);
              written(isWritten);
            },
            keep: () => done.push(`keep ${id}`),
          };
        },
        end: async () => {
          done.push('end');
          return undefined;
        },
      }),
      transport: {
        writeAtOnce: async (_queue: string, message: (limits: object) => object) => {
          const { properties } = message(LIMITS) as IncomingMessage;
          const result = await publish(properties.messageId);
          done.push(`${result.status} ${properties.messageId}`);
          return result;
        },
        write: async (
          _queue: string,
          message: (limits: object) => object,
          { isAlone }: WriteOptions,
        ) => {
          const { messageId: id } = (message(LIMITS) as IncomingMessage).properties;
          const result = await later?.(id, isAlone);
          done.push(`${result?.status} ${id}${isAlone ? ' alone' : ''}`);
          return { result: Promise.resolve(result), end: () => undefined };
        },
        ...(publish === unconnected && { writeAtOnce: () => undefined }),
      },
      close: async () => undefined,
    } as unknown as QueueClient;
  }

  replay(options: ReplayOptions = {}) {
    const terms = { clock: systemClock, signal: new AbortController().signal };
    return replayLetters(this.client, 'dead', options, terms);
  }
}

/** Nothing can be written at once: there is no channel. */
const unconnected = (): Promise<PublishResult> => Promise.reject(new Error('not called'));

/** RabbitMQ has closed the channel on which several messages were published. */
function closedBy(code: number, text: string): PublishResult {
  const reason = `Channel closed by server: ${code} with message "${text}"`;
  return { status: 'closed', error: Object.assign(new Error(reason), { code }), isAlone: false };
}

const confirmed = async (): Promise<PublishResult> => ({ status: 'confirmed' });

function messages(count: number, headers: object = dead): IncomingMessage[] {
  return Array.from({ length: count }, (_, index) =>
    messageOf({ ...headers }, { messageId: `m-${index + 1}` }),
  );
}

describe('a replay', () => {
  it('acknowledges a message only after its confirm', async () => {
    const confirms: (() => void)[] = [];
    const broker = new FakeBroker(
      messages(3),
      () => new Promise((resolve) => confirms.push(() => resolve({ status: 'confirmed' }))),
    );
    const replaying = broker.replay();
    while (confirms.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect(broker.done).toEqual([]);
    for (const confirm of confirms.reverse()) confirm();
    expect(await replaying).toMatchObject({ replayed: 3, ended: 'complete' });
    expect(broker.done.at(-1)).toBe('end');
    for (const id of ['m-1', 'm-2', 'm-3']) {
      const [published, acknowledged] = [`confirmed ${id}`, `ack ${id}`].map((one) =>
        broker.done.indexOf(one),
      );
      expect(published).toBeGreaterThanOrEqual(0);
      expect(acknowledged).toBeGreaterThan(published as number);
    }
  });

  it('does not replay a second time what comes back during the run', async () => {
    const later = new Date(Date.now() + 1_000).toISOString();
    const broker = new FakeBroker(
      [...messages(1), ...messages(1, { ...dead, 'x-settle-replayed-at': later })],
      confirmed,
    );
    expect(await broker.replay()).toMatchObject({ scanned: 2, matched: 1, replayed: 1 });
  });

  it.each([
    ['returned', 'target-missing', { status: 'returned', replyCode: 312, replyText: 'NO_ROUTE' }],
    ['refused', 'target-refused', { status: 'refused' }],
    ['closed', 'unconfirmed', { status: 'closed', error: new Error('x'), isAlone: false }],
    ['unconfirmed', 'unconfirmed', { status: 'unconfirmed' }],
    ['unencodable', 'unencodable', { status: 'unencodable', error: new Error('x') }],
  ] as const)('keeps what is %s, as %s', async (_status, cause, result) => {
    const broker = new FakeBroker(messages(1), async () => result);
    const replayed = await broker.replay();
    expect(replayed).toMatchObject({ matched: 1, replayed: 0, failed: 1 });
    expect(replayed.failures).toMatchObject([{ cause, target: 'billing', count: 1 }]);
    expect(broker.done).toContain('keep m-1');
    expect(broker.done).not.toContain('ack m-1');
  });

  it('does not try a target again that does not exist', async () => {
    let published = 0;
    const broker = new FakeBroker(messages(500), async () => {
      published += 1;
      return { status: 'returned', replyCode: 312, replyText: 'NO_ROUTE' };
    });
    const result = await broker.replay();
    expect(result.failures).toMatchObject([{ cause: 'target-missing', count: 500 }]);
    expect(published).toBeLessThan(500);
  });

  it('opens another connection if one closes before a message is written', async () => {
    let tries = 0;
    const broker = new FakeBroker(messages(1), unconnected, true, async () => {
      tries += 1;
      if (tries === 1) throw new Error('closed');
      return { status: 'confirmed' };
    });
    expect(await broker.replay()).toMatchObject({ replayed: 1, ended: 'complete' });
  });

  it('ends with the reason if there is no connection, and returns what it holds', async () => {
    const error = new Error('no connection');
    const broker = new FakeBroker(messages(9), unconnected, true, () => Promise.reject(error));
    const result = await broker.replay();
    expect(result).toMatchObject({ ended: 'failed', error, scanned: 1, replayed: 0, failed: 0 });
    expect(broker.done).toEqual(['keep m-1', 'end']);
  });

  it('publishes each message alone if one of several was refused, and keeps that one', async () => {
    const refusal = closedBy(406, 'PRECONDITION_FAILED - invalid message');
    const broker = new FakeBroker(
      messages(3),
      async () => refusal,
      true,
      async (id) => (id === 'm-2' ? { ...refusal, isAlone: true } : { status: 'confirmed' }),
    );
    const { failures, ...result } = await broker.replay();
    expect(result).toMatchObject({ replayed: 2, failed: 1, ended: 'complete' });
    expect(failures).toMatchObject([
      { cause: 'message-refused', count: 1, letters: [{ messageId: 'm-2' }] },
    ]);
    expect(broker.done).toContain('confirmed m-1 alone');
  });

  it('knows a message that is too large from the reply of the server', async () => {
    const text = 'PRECONDITION_FAILED - message size 300 is larger than configured max size 200';
    const content = Buffer.alloc(300);
    const large = messageOf(dead, { messageId: 'large', content });
    let published = 0;
    const broker = new FakeBroker([...messages(1), large, large], async () => {
      published += 1;
      return published === 1 ? closedBy(406, text) : { status: 'confirmed' };
    });
    const { failures, ...result } = await broker.replay();
    expect(result).toMatchObject({ replayed: 1, failed: 2 });
    expect(failures).toMatchObject([{ cause: 'message-refused', count: 2 }]);
    expect(failures[0]?.text).toContain(text);
    expect(published).toBe(2);
  });

  it('does not try a target again to which nothing may be published', async () => {
    let published = 0;
    const broker = new FakeBroker(messages(500), async () => {
      published += 1;
      return closedBy(403, 'ACCESS_REFUSED');
    });
    const result = await broker.replay();
    expect(result.failures).toMatchObject([{ cause: 'target-refused', count: 500 }]);
    expect(result.failures[0]?.text).toContain('ACCESS_REFUSED');
    expect(published).toBeLessThan(500);
  });

  it('counts what is confirmed but could not be acknowledged', async () => {
    const broker = new FakeBroker(messages(2), confirmed, false);
    expect(await broker.replay()).toMatchObject({ replayed: 0, duplicated: 2 });
  });

  it('holds everything in a dry run', async () => {
    const broker = new FakeBroker(messages(2), confirmed);
    const result = await broker.replay({ dryRun: true });
    expect(result).toMatchObject({ matched: 2, replayed: 0, targets: [{ queue: 'billing' }] });
    expect(broker.done).toEqual(['keep m-1', 'keep m-2', 'end']);
  });
});
