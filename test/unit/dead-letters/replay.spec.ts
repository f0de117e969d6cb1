import { describe, expect, it } from 'vitest';
import type { QueueClient } from '../../../lib/amqp/queue-client';
import type { PublishResult } from '../../../lib/amqp/republish-transport';
import { systemClock } from '../../../lib/clock';
import type { ReplayOptions } from '../../../lib/dead-letters/options';
import { replayLetters } from '../../../lib/dead-letters/replay';
import type { IncomingMessage } from '../../../lib/model/delivery';
import { messageOf } from './fixtures';

const dead = { 'x-settle-reason': 'error', 'x-settle-queue': 'billing' };

/** A broker with these messages, and what was done with each, in order. */
class FakeBroker {
  readonly done: string[] = [];

  constructor(
    private readonly messages: readonly IncomingMessage[],
    private readonly publish: (id: string) => Promise<PublishResult>,
    private readonly isWritten = true,
  ) {}

  get client(): QueueClient {
    const waiting = [...this.messages];
    const { done, publish, isWritten } = this;
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
          return true;
        },
      }),
      transport: {
        writeAtOnce: async (_queue: string, message: (limits: object) => object) => {
          const { properties } = message({
            frame: 131_072,
            headerTable: 65_536,
          }) as IncomingMessage;
          const result = await publish(properties.messageId);
          done.push(`${result.status} ${properties.messageId}`);
          return result;
        },
      },
      close: async () => undefined,
    } as unknown as QueueClient;
  }

  replay(options: ReplayOptions = {}) {
    const terms = { clock: systemClock, signal: new AbortController().signal };
    return replayLetters(this.client, 'dead', options, terms);
  }
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
