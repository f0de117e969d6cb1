import { Command, CommanderError } from 'commander';
import { escaped, reasonText } from '../log/format';
import { texts } from '../log/texts';
import { commands } from './commands';
import { EXIT_CODE, type ExitCode } from './exit-code';
import type { CliHost } from './host';
import { hasColours } from './style';

/** What a command gets: where it runs, and how it reports its exit code. */
export interface CliContext {
  readonly host: CliHost;
  /** The process exits with this code unless the command fails; 0 if it is not called. */
  exitWith(code: ExitCode): void;
}

/** Adds one command to the program. Its file loads nothing that only its action needs. */
export type RegisterCommand = (program: Command, context: CliContext) => void;

/** Runs `nestjs-settle` with these arguments; resolves with the exit code. Never rejects. */
export async function runCli(parameters: readonly string[], host: CliHost): Promise<number> {
  let exitCode: ExitCode = EXIT_CODE.success;
  const context: CliContext = {
    host,
    exitWith: (code) => {
      exitCode = code;
    },
  };
  try {
    await programFor(context).parseAsync([...parameters], { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has written its message; help and the version end with code 0.
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? EXIT_CODE.success : EXIT_CODE.usage;
    }
    // An application that cannot be described has one error per fault.
    const errors: readonly unknown[] = error instanceof AggregateError ? error.errors : [error];
    for (const one of errors) host.err(`${texts.cliError(escaped(reasonText(one)))}\n`);
    return error instanceof TypeError ? EXIT_CODE.usage : EXIT_CODE.failure;
  }
}

function programFor(context: CliContext): Command {
  const { host } = context;
  const program = new Command('nestjs-settle')
    .description(texts.cliDescription)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.out(text),
      writeErr: (text) => host.err(text),
      getOutHelpWidth: () => Math.min(host.columns, 100),
      getErrHelpWidth: () => 100,
      getOutHasColors: () => hasColours(host, host.outIsTerminal),
      getErrHasColors: () => hasColours(host, host.errIsTerminal),
    })
    .configureHelp({ showGlobalOptions: true })
    .showHelpAfterError(texts.cliHelpHint)
    .addHelpText('after', texts.cliExitCodes);
  for (const register of commands) register(program, context);
  return program;
}
