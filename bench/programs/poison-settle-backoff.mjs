// @ts-check
/** nestjs-settle, three attempts, 200 ms between them. */
import { job } from './support/program.mjs';
import { fixed } from './support/settle.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({
  options: {
    declare: true,
    retry: { attempts: 3, backoff: fixed('200ms') },
    deadLetter: job.dead,
    onError: 'retryAfter',
  },
});
