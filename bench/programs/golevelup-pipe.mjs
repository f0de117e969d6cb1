// @ts-check
/** golevelup with a `ValidationPipe`. */
import { runGolevelup } from './support/golevelup.mjs';
import { validateParameter } from './support/order.mjs';

await runGolevelup(validateParameter);
