import { Injectable } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type Delivery, Subscribe, SubscriptionRegistry } from '../../../lib';
import { start } from './app';

@Injectable()
class Mailer {
  readonly sent: string[] = [];
  readonly signals: AbortSignal[] = [];
  end = (): void => {};

  @Subscribe({ queue: 'mails', prefetch: 10, rate: { limit: 2, per: '1m' } })
  send(text: string): void {
    this.sent.push(text);
  }

  @Subscribe({ queue: 'letters', prefetch: 10, concurrency: 1 })
  async write(text: string, ...[, , delivery]: [unknown, unknown, Delivery]): Promise<void> {
    this.sent.push(text);
    this.signals.push(delivery.signal);
    await new Promise<void>((resolve) => {
      this.end = resolve;
    });
  }
}

describe('limits under virtual time', () => {
  it('advance() lets deliveries begin that the rate holds back; idle() does not wait for them', async () => {
    const test = await start({ providers: [Mailer] });
    const mailer = test.get(Mailer);
    for (const text of ['a', 'b', 'c', 'd', 'e']) await test.publish('', 'mails', text);
    await test.idle();
    expect(mailer.sent).toEqual(['a', 'b']);
    expect(test.get(SubscriptionRegistry).get(Mailer, 'send')).toMatchObject({
      waiting: 3,
      inFlight: 0,
    });
    await test.advance('59s');
    expect(mailer.sent).toEqual(['a', 'b']);
    await test.advance('1s');
    expect(mailer.sent).toEqual(['a', 'b', 'c', 'd']);
    await test.advance('1m');
    expect(mailer.sent).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('a delivery that waits is forgotten with its channel and handled when it is redelivered', async () => {
    const test = await start({ providers: [Mailer] });
    const mailer = test.get(Mailer);
    for (const text of ['a', 'b', 'c']) await test.publish('', 'letters', text);
    await test.advance(0);
    expect(mailer.sent).toEqual(['a']);
    test.loseChannel(Mailer, 'write');
    expect(mailer.signals[0]?.reason).toMatchObject({ name: 'ChannelLostError' });
    const registry = test.get(SubscriptionRegistry);
    expect(registry.get(Mailer, 'write')).toMatchObject({ waiting: 0, inFlight: 1 });
    // The first handler has not ended: concurrency holds across channels.
    await test.advance('1s');
    expect(registry.get(Mailer, 'write')).toMatchObject({ waiting: 3, inFlight: 1 });
    for (let ended = 0; ended < 4; ended += 1) {
      mailer.end();
      await test.advance(0);
    }
    expect(mailer.sent).toEqual(['a', 'a', 'b', 'c']);
    expect(test.settlements(Mailer, 'write').map(({ status }) => status)).toEqual([
      'abandoned',
      'sent',
      'sent',
      'sent',
    ]);
  });
});
