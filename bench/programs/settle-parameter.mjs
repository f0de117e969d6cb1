// @ts-check
/** nestjs-settle with one parameter decorator. */
import { decorateParameter } from './support/order.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({ apply: decorateParameter });
