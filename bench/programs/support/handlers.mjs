// @ts-check
import { setTimeout as wait } from 'node:timers/promises';

/**
 * What the handler does with a message, the same in every program:
 * - `empty`: nothing;
 * - `wait`: waits `waitMs`;
 * - `failTwice`: throws at the first two calls for a message, then succeeds;
 * - `fail`: always throws.
 *
 * @typedef {'empty' | 'wait' | 'failTwice' | 'fail'} HandlerKind
 */

/** @typedef {{ id: number }} Payload */
/** @typedef {(payload: Payload) => void | Promise<void>} Handle */

/**
 * The handler of a job. It looks at each payload, so that no program gets around reading the message.
 *
 * @param {{ handler: HandlerKind, waitMs?: number | undefined, messages: number }} job
 * @param {{ called(): void, succeeded(): void }} counter
 * @returns {Handle}
 */
export function handlerOf({ handler, waitMs = 1, messages }, counter) {
  switch (handler) {
    case 'empty':
      return (payload) => {
        counter.called();
        requireNumber(payload);
        counter.succeeded();
      };
    case 'wait':
      return async (payload) => {
        counter.called();
        requireNumber(payload);
        await wait(waitMs);
        counter.succeeded();
      };
    case 'failTwice': {
      const calls = new Uint8Array(messages);
      return ({ id }) => {
        counter.called();
        const call = (calls[id] ?? 0) + 1;
        calls[id] = call;
        if (call < 3) throw new Error('the handler fails');
        if (call === 3) counter.succeeded();
      };
    }
    case 'fail':
      return (payload) => {
        counter.called();
        requireNumber(payload);
        throw new Error('the handler fails');
      };
  }
}

/**
 * @param {Payload} payload
 */
function requireNumber({ id }) {
  if (typeof id !== 'number') throw new TypeError('the message was not read');
}
