// @ts-check
/** nestjs-settle, three attempts, at once. */
import { job } from './support/program.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({
  options: { declare: true, retry: { attempts: 3 }, deadLetter: job.dead, onError: 'retry' },
});
