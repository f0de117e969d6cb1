// @ts-check
/** nestjs-settle with a `ValidationPipe`. */
import { validateParameter } from './support/order.mjs';
import { runSettle } from './support/settle-app.mjs';

await runSettle({ apply: validateParameter });
