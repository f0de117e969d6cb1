// @ts-check
/** rascal, republishing twice and then rejecting. */
import { runRascal } from './support/rascal.mjs';

await runRascal([{ strategy: 'republish', attempts: 2 }, { strategy: 'nack' }]);
