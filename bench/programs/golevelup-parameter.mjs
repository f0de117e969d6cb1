// @ts-check
/** golevelup with one parameter decorator. */
import { runGolevelup } from './support/golevelup.mjs';
import { decorateParameter } from './support/order.mjs';

await runGolevelup(decorateParameter);
