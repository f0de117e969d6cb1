import { type Command, Option } from 'commander';
import { texts } from '../log/texts';

/** How a command reaches RabbitMQ. */
export interface ConnectionOptions {
  readonly url: string;
  readonly json?: boolean;
}

/** Adds `--url` and `--json` to a command. */
export function withConnection(command: Command): Command {
  return command
    .addOption(
      new Option('-u, --url <url>', texts.cliUrl)
        .env('RABBITMQ_URL')
        .default('amqp://localhost', 'amqp://localhost'),
    )
    .option('--json', texts.cliJson);
}
