// @ts-check
/** nestjs-settle with `retry`, `deadLetter` and every policy, without `timeout`, events and `andAfter`. */
import { DECLARED, runSettle } from './support/settle-app.mjs';

await runSettle({ options: DECLARED });
