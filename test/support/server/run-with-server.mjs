// @ts-check
/**
 * `node run-with-server.mjs -- command parameters...` runs a command with a RabbitMQ server: it finds or starts one,
 * gives the command `RABBITMQ_URL` (and `RABBITMQ_MANAGEMENT_URL` where there is one), passes signals on to it, ends
 * the server and exits as the command did: with its code, or with 128 and the number of the signal that ended it.
 */
import { findServer } from './find-server.mjs';
import { passSignalsOn, runInForeground } from './foreground.mjs';

const command = process.argv.slice(process.argv[2] === '--' ? 3 : 2);
if (command.length === 0) {
  console.error('usage: node run-with-server.mjs -- command parameters...');
  process.exit(2);
}

passSignalsOn();
try {
  const server = await findServer({ log: (line) => console.error(line) });
  try {
    process.exitCode = await runInForeground(command, {
      ...process.env,
      RABBITMQ_URL: server.url,
      ...(server.management && { RABBITMQ_MANAGEMENT_URL: server.management.describe().url }),
    });
  } finally {
    await server.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
