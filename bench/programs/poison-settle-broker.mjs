// @ts-check
/** nestjs-settle, three attempts, delayed by the broker itself. */
import { job } from './support/program.mjs';
import { linear } from './support/settle.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({
  options: {
    declare: true,
    retry: { attempts: 3, backoff: linear('200ms', { max: '1s' }), by: 'broker' },
    deadLetter: job.dead,
    onError: 'retryAfter',
  },
});
