// @ts-check
/** nestjs-settle, dead-lettering every message at its first error. */
import { DECLARED, runSettle } from './support/settle-app.mjs';

await runSettle({ options: { ...DECLARED, onError: 'drop' } });
