// @ts-check
/** nestjs-settle, retrying at once or after a delay. */
import { job } from './support/program.mjs';
import { fixed } from './support/settle.mjs';
import { DECLARED, runSettle } from './support/settle-app.mjs';

const retrying = job.delayMs
  ? /** @type {const} */ ({
      retry: { attempts: 5, backoff: fixed(job.delayMs) },
      onError: 'retryAfter',
    })
  : /** @type {const} */ ({ retry: { attempts: 5 }, onError: 'retry' });

await runSettle({ options: { ...DECLARED, ...retrying } });
