// @ts-check
/** nestjs-settle with `context: true`, whose delivery nobody reads. */
import { runSettle } from './support/settle-app.mjs';

await runSettle({ settle: { context: true } });
