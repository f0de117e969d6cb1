// @ts-check
/** nestjs-settle with nothing but a queue, in batches of 100; the prefetch is that of the cell. */
import { job } from './support/program.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({
  options: {
    prefetch: job.prefetch,
    batch: { size: 100, concurrency: Math.max(1, Math.floor(job.prefetch / 100)) },
  },
});
