// @ts-check
/** golevelup's `@RabbitSubscribe`. */
import { runGolevelup } from './support/golevelup.mjs';

await runGolevelup();
