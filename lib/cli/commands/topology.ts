import { Option } from 'commander';
import { texts } from '../../log/texts';
import { type VersionOptions, withVersion } from '../application-options';
import { describedApplication } from '../described-application';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';

interface TopologyOptions extends VersionOptions {
  readonly vhost?: string;
}

/** `nestjs-settle topology <module>`: queues, exchanges and bindings for `rabbitmqctl import_definitions`. */
export const registerTopology: RegisterCommand = (program, { host }) => {
  const command = program.command('topology').description(texts.cliTopology);
  withVersion(command)
    .addOption(
      new Option('--format <format>', texts.cliFormat)
        .choices(['definitions'])
        .default('definitions', 'definitions'),
    )
    .option('--vhost <name>', texts.cliVirtualHost)
    .action(async (reference: string, { rabbitmq, vhost }: TopologyOptions) => {
      const description = await describedApplication(reference, rabbitmq);
      const { definitionsOf, foreignExchangesOf } = await import(
        '../../description/definitions.js'
      );
      for (const name of foreignExchangesOf(description)) {
        host.err(`${texts.foreignExchange(name)}\n`);
      }
      host.out(jsonOf(definitionsOf(description, vhost)));
    });
};
