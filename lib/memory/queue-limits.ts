import type { QueueRules } from './queue-rules';
import type { StoredMessage } from './stored-message';

/** A quorum queue takes messages again when no more than this part of its limit is used. */
const SOFT_LIMIT = 0.8;

/** How much a queue holds now. */
export interface QueueLength {
  readonly messages: number;
  readonly bytes: number;
}

type LimitRules = Pick<QueueRules, 'type' | 'maxLength' | 'maxBytes' | 'overflow'>;

/**
 * The length limits of a queue. A classic queue refuses the message that would exceed them. A quorum queue
 * takes one message more, then refuses until a fifth of its limit is free.
 */
export class QueueLimits {
  #blocked = false;

  constructor(private readonly rules: LimitRules) {}

  /** Whether the queue refuses to store a message. */
  refuses(message: StoredMessage, length: QueueLength): boolean {
    const { type, overflow } = this.rules;
    if (overflow === 'drop-head') return false;
    if (type === 'quorum') return this.#blocked;
    return this.#isExceeded({
      messages: length.messages + 1,
      bytes: length.bytes + message.bytes,
    });
  }

  /** Whether the queue has to drop messages from its head. */
  mustDrop(length: QueueLength): boolean {
    return this.rules.overflow === 'drop-head' && this.#isExceeded(length);
  }

  /** To be called when the length has changed. */
  changed(length: QueueLength): void {
    const { maxLength, maxBytes } = this.rules;
    if (this.#isExceeded(length)) this.#blocked = true;
    const isFree =
      length.messages <= Math.floor(maxLength * SOFT_LIMIT) &&
      length.bytes <= Math.floor(maxBytes * SOFT_LIMIT);
    if (isFree) this.#blocked = false;
  }

  #isExceeded({ messages, bytes }: QueueLength): boolean {
    const { maxLength, maxBytes } = this.rules;
    return messages > maxLength || bytes > maxBytes;
  }
}
