import { isMessageRefusal, replyCodeOf } from '../amqp/refusal';
import type { PublishResult } from '../amqp/republish-transport';
import { texts } from '../log/texts';
import type { DeadLetter } from './dead-letter';
import { Identities } from './identity';
import { normalisedMessage } from './normalise';
import type { ReplayFailure } from './results';
import type { Selected } from './run';

/** How many messages a failure names. */
const MOST_NAMED = 20;

const ACCESS_REFUSED = 403;

/** Why a message was not replayed. */
export type Failure = Pick<ReplayFailure, 'cause' | 'text'>;

type Named = Pick<DeadLetter, 'id' | 'messageId'>;

/** Why messages were not replayed, by cause, target and text without its numbers; the text is that of the first one. */
export class ReplayFailures {
  readonly #failures = new Map<string, ReplayFailure & { readonly letters: Named[] }>();
  readonly #identities = new Identities();

  get list(): readonly ReplayFailure[] {
    return [...this.#failures.values()];
  }

  /** How many messages were not replayed. */
  get count(): number {
    return this.list.reduce((sum, { count }) => sum + count, 0);
  }

  /** Adds a message, whose body is still there. */
  add(
    { held, letter }: Selected,
    { cause, target, text }: Failure & Pick<ReplayFailure, 'target'>,
  ): void {
    const key = JSON.stringify([cause, target, normalisedMessage(text)]);
    const { count = 0, letters = [], text: first = text } = this.#failures.get(key) ?? {};
    if (letters.length < MOST_NAMED) {
      const id = this.#identities.idOf(held.message);
      letters.push({ id, messageId: letter.messageId });
    }
    this.#failures.set(key, { cause, target, count: count + 1, letters, text: first });
  }
}

/** The server does not accept a message. */
export function messageRefused(target: string, error: unknown): Failure {
  return { cause: 'message-refused', text: texts.replayMessageRefused(target, error) };
}

/** Why a publish has failed. */
export function failureOf(
  target: string,
  result: Exclude<PublishResult, { status: 'confirmed' }>,
): Failure {
  switch (result.status) {
    case 'returned':
      return { cause: 'target-missing', text: texts.replayTargetMissing(target) };
    case 'refused':
      return { cause: 'target-refused', text: texts.replayTargetRefused(target) };
    case 'unencodable':
      return { cause: 'unencodable', text: texts.replayUnencodable(target, result.error) };
    case 'closed':
      return failureOfClose(target, result);
    case 'unconfirmed': {
      const text = texts.replayUnconfirmed(target, texts.replayNotConfirmedInTime);
      return { cause: 'unconfirmed', text };
    }
  }
}

function failureOfClose(
  target: string,
  { error, isAlone }: Extract<PublishResult, { status: 'closed' }>,
): Failure {
  if (isAlone && isMessageRefusal(error)) return messageRefused(target, error);
  if (replyCodeOf(error) === ACCESS_REFUSED) {
    return { cause: 'target-refused', text: texts.replayNotPermitted(target, error) };
  }
  return { cause: 'unconfirmed', text: texts.replayUnconfirmed(target, error) };
}
