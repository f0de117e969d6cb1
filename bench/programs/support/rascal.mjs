// @ts-check
import rascal from 'rascal';
import { job, runProgram } from './program.mjs';

/** How rascal is told to go on with a message that failed; nothing where handlers do not fail. */
/** @typedef {readonly Record<string, unknown>[]} Recovery */

/**
 * A subscription of rascal, with its own defaults but for the prefetch.
 *
 * @param {Recovery} [recovery]
 * @returns {Promise<void>}
 */
export function runRascal(recovery = []) {
  return runProgram(async (handle) => {
    const { uri, queue, prefetch } = job;
    const broker = await rascal.BrokerAsPromised.create({
      vhosts: {
        '/': {
          connection: { url: uri },
          queues: { [queue]: { assert: false, check: true } },
          subscriptions: { bench: { queue, prefetch } },
        },
      },
    });
    broker.on('error', console.error);
    const subscription = await broker.subscribe('bench');
    subscription.on(
      'message',
      async (
        /** @type {unknown} */ _message,
        /** @type {import('./handlers.mjs').Payload} */ content,
        /** @type {(error?: unknown, recovery?: Recovery) => void} */ ackOrNack,
      ) => {
        try {
          await handle(content);
        } catch (error) {
          ackOrNack(error, recovery);
          return;
        }
        ackOrNack();
      },
    );
    subscription.on('error', console.error);
    return () => broker.shutdown();
  });
}
