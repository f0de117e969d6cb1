// @ts-check
/**
 * rascal, dead-lettering with diagnostics: its documentation republishes the message with the error in its headers and
 * rejects that copy at once, unseen by the handler, to the queue's own dead-letter route.
 */
import { runRascal } from './support/rascal.mjs';

await runRascal([{ strategy: 'republish', immediateNack: true }]);
