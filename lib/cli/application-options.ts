import { type Command, Option } from 'commander';
import { texts } from '../log/texts';

/** The version of RabbitMQ that a description holds for. */
export interface VersionOptions {
  readonly rabbitmq: string;
}

/** Adds the argument that names the root module of the application. */
export function withApplication(command: Command): Command {
  return command.argument('<module>', texts.cliModule);
}

/** Adds the argument that names the root module, and `--rabbitmq`. */
export function withVersion(command: Command): Command {
  return withApplication(command).addOption(
    new Option('--rabbitmq <version>', texts.cliRabbitmq).default('4.3', '4.3'),
  );
}
