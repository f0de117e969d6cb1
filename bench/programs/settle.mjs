// @ts-check
/**
 * nestjs-settle with all it has: `retry`, `deadLetter`, every policy, `timeout`, a listener on the settlement stream,
 * and `andAfter` with every message.
 */
import { DECLARED, runSettle } from './support/settle-app.mjs';

await runSettle({ options: { ...DECLARED, timeout: '30s' }, andAfter: true, events: true });
