// @ts-check
/** nestjs-settle with nothing but a queue. */
import { runSettle } from './support/settle-app.mjs';

await runSettle();
