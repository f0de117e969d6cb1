import { Injectable } from '@nestjs/common';
import { type Delivery, SettleHeaders, Subscribe } from 'nestjs-settle';
import { filter, firstValueFrom, ReplaySubject, take, timeout, toArray } from 'rxjs';
import { Screen } from './screen';

type Headers = Readonly<Record<string, unknown>>;
interface DeadLetter {
  readonly queue: string;
  readonly messageId: string | undefined;
  readonly headers: Headers;
}

/** How long dead letters may take to arrive, in ms. */
const DEADLINE = 10_000;

/** The body may be an invalid payload: it stays bytes. */
const asBytes = (body: Buffer): Buffer => body;

/** Consumes the dead-letter queues, and shows why each message is there. */
@Injectable()
export class DeadLetters {
  readonly #collected = new ReplaySubject<DeadLetter>();

  constructor(private readonly screen: Screen) {}

  @Subscribe({ queue: 'billing.dead', queueType: 'quorum', deserializer: asBytes })
  @Subscribe({ queue: 'stock.dead', deserializer: asBytes })
  @Subscribe({ queue: 'mail.dead', deserializer: asBytes })
  collect(_body: Buffer, _message: unknown, headers: Headers, delivery: Delivery): void {
    const { queue, messageId } = delivery;
    this.#collected.next({ queue, messageId, headers });
  }

  /**
   * Resolves once the dead letters of these messages have been shown.
   * @throws TimeoutError if they do not arrive in time.
   */
  async show(messageIds: ReadonlySet<string>): Promise<void> {
    const all = this.#collected.pipe(
      filter(({ messageId = '' }) => messageIds.has(messageId)),
      take(messageIds.size),
      toArray(),
      timeout(DEADLINE),
    );
    const letters = await firstValueFrom(all);
    letters.sort((one, other) => one.queue.localeCompare(other.queue));
    for (const letter of letters) this.#show(letter);
  }

  #show({ queue, messageId, headers }: DeadLetter): void {
    const attempts = headers[SettleHeaders.attemptsMade];
    this.screen.row(
      [queue, 12],
      [String(messageId), 8],
      [String(headers[SettleHeaders.reason]), 11],
      [attempts === 1 ? '1 attempt' : `${attempts} attempts`, 10],
      [errorOf(headers), 0],
    );
  }
}

function errorOf(headers: Headers): string {
  const name = headers[SettleHeaders.errorName];
  const text = headers[SettleHeaders.errorMessage] ?? '';
  return name === undefined ? String(text) : `${name}: ${text}`;
}
