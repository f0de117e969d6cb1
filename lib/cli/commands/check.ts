import type { ConsumerDescription } from '../../description/description';
import { escaped } from '../../log/format';
import { texts } from '../../log/texts';
import { withApplication } from '../application-options';
import { EXIT_CODE } from '../exit-code';
import type { RegisterCommand } from '../program';

interface CheckOptions {
  readonly allowMissing?: boolean;
}

/** `nestjs-settle check <module>`: the differences between the subscriptions and the server. */
export const registerCheck: RegisterCommand = (program, { host, exitWith }) => {
  const command = program.command('check').description(texts.cliCheck);
  withApplication(command)
    .option('--allow-missing', texts.cliAllowMissing)
    .action(async (reference: string, { allowMissing = false }: CheckOptions) => {
      let isDifferent = false;
      for await (const line of comparisonOf(reference)) {
        const isAllowed = allowMissing && line.isDeclaredAtStartup;
        isDifferent ||= line.isDifference && !isAllowed;
        const write = line.isDifference ? host.out : host.err;
        write(`${escaped(line.text)}\n`);
      }
      if (!isDifferent) host.out(`${texts.noDifference}\n`);
      host.err(`${texts.notVisible}\n`);
      if (isDifferent) exitWith(EXIT_CODE.failure);
    });
};

/** One line of the comparison: a difference, or a remark about what cannot be compared. */
interface ComparisonLine {
  readonly isDifference: boolean;
  /** Whether it is missing, and the application declares it. */
  readonly isDeclaredAtStartup: boolean;
  readonly text: string;
}

async function* comparisonOf(reference: string): AsyncGenerator<ComparisonLine> {
  const [{ connectionsOf, plannedConsumers }, { describeConsumers }, { differencesOf }, compared] =
    await Promise.all([
      import('../application.js'),
      import('../../description/describe.js'),
      import('../../description/differences.js'),
      import('../../amqp/compared-arguments.js'),
    ]);
  const consumers = await plannedConsumers(reference, { connects: true });
  for (const connection of connectionsOf(consumers)) {
    const client = connection.topologyClient();
    if (client === undefined) throw new Error(texts.notConnected(connection.name));
    const { version } = client;
    const own = consumers.filter((consumer) => consumer.connection === connection);
    for (const described of describeConsumers(own, version).consumers) {
      for (const { kind, isDeclared, text } of await differencesOf(client, described)) {
        const isDeclaredAtStartup = kind === 'missing' && isDeclared;
        yield { isDifference: true, isDeclaredAtStartup, text: `${kind}: ${text}` };
      }
      for (const [name, argument] of argumentsOf(described)) {
        if (compared.comparedArgumentsOf(described.queueType, version).includes(argument)) continue;
        const text = texts.notCompared(name, argument, version.join('.'));
        yield { isDifference: false, isDeclaredAtStartup: false, text };
      }
    }
  }
}

// The server ignores arguments that it does not know when it compares queues.
function argumentsOf({ queues }: ConsumerDescription): readonly [string | undefined, string][] {
  return queues
    .filter(({ purpose }) => purpose === 'subscription')
    .flatMap(({ name, arguments: args }) =>
      Object.keys(args).map((argument): [string | undefined, string] => [name, argument]),
    );
}
