import { readFile } from 'node:fs/promises';
import { texts } from '../../log/texts';
import { type VersionOptions, withVersion } from '../application-options';
import { describedApplication } from '../described-application';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';

interface DocumentOptions extends VersionOptions {
  readonly title?: string;
  readonly documentVersion?: string;
}

/** `nestjs-settle asyncapi <module>`: an AsyncAPI 3 document of the subscriptions. */
export const registerAsyncApi: RegisterCommand = (program, { host }) => {
  const command = program.command('asyncapi').description(texts.cliAsyncApi);
  withVersion(command)
    .option('--title <title>', texts.cliTitle)
    .option('--document-version <version>', texts.cliDocumentVersion)
    .action(async (reference: string, options: DocumentOptions) => {
      const manifest = await ownManifest();
      const description = await describedApplication(reference, options.rabbitmq);
      const { asyncApiOf } = await import('../../description/asyncapi.js');
      const document = asyncApiOf(description, {
        title: options.title ?? manifest.name ?? 'Application',
        version: options.documentVersion ?? manifest.version ?? '0.0.0',
      });
      host.out(jsonOf(document));
    });
};

async function ownManifest(): Promise<{ readonly name?: string; readonly version?: string }> {
  try {
    return JSON.parse(await readFile('package.json', 'utf8'));
  } catch {
    return {}; // Called from another folder.
  }
}
