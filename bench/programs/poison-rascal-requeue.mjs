// @ts-check
/** rascal, putting a message back that fails. */
import { runRascal } from './support/rascal.mjs';

await runRascal([{ strategy: 'nack', requeue: true }]);
