// @ts-check
/** rascal. */
import { runRascal } from './support/rascal.mjs';

await runRascal();
