// @ts-check
/** rascal, retrying by republishing; it waits in the process where a delay is asked for. */
import { job } from './support/program.mjs';
import { runRascal } from './support/rascal.mjs';

await runRascal([
  { strategy: 'republish', attempts: 5, ...(job.delayMs && { defer: job.delayMs }) },
  { strategy: 'nack' },
]);
