import { texts } from '../../log/texts';
import { type VersionOptions, withVersion } from '../application-options';
import { describedApplication } from '../described-application';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';

interface DescribeOptions extends VersionOptions {
  readonly json?: boolean;
}

/** `nestjs-settle describe <module>`: what every outcome and failure means for each subscription. */
export const registerDescribe: RegisterCommand = (program, { host }) => {
  const command = program.command('describe').description(texts.cliDescribe);
  withVersion(command)
    .option('--json', texts.cliJson)
    .action(async (reference: string, { rabbitmq, json }: DescribeOptions) => {
      const description = await describedApplication(reference, rabbitmq);
      const { descriptionText } = await import('../../description/text.js');
      host.out(json ? jsonOf(description) : `${descriptionText(description)}\n`);
    });
};
