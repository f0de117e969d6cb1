import type { ReplayResult } from '../../dead-letters/results';
import { texts } from '../../log/texts';
import { type ConnectionOptions, withConnection } from '../connection-options';
import { EXIT_CODE, type ExitCode } from '../exit-code';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';
import { ProgressBar } from '../progress-bar';
import { type FilterOptions, filterOf, positiveNumber, withFilter } from '../selection-options';
import { styleOf } from '../style';
import { replayView } from '../views/run-view';
import { withDeadLetters } from '../with-dead-letters';

interface ReplayCommandOptions extends FilterOptions, ConnectionOptions {
  readonly to?: string;
  readonly rate?: number;
  readonly dryRun?: boolean;
}

/** `nestjs-settle dead replay <queue> [ids...]`: back to where the messages failed. */
export const registerReplay: RegisterCommand = (program, { host, exitWith }) => {
  const command = program
    .command('replay')
    .description(texts.cliReplay)
    .argument('<queue>', texts.cliQueue)
    .argument('[ids...]', texts.cliIds)
    .option('--to <queue>', texts.cliTo)
    .option('--rate <count>', texts.cliRate, positiveNumber)
    .option('--dry-run', texts.cliReplayDryRun);
  withConnection(withFilter(command, texts.cliRunLimit)).action(
    async (queue: string, ids: string[], options: ReplayCommandOptions) => {
      const { url, json, scan, limit, to, rate, dryRun } = options;
      const bar = new ProgressBar(host);
      const interrupt = new AbortController();
      const end = host.onInterrupt(() => interrupt.abort());
      try {
        const result = await withDeadLetters(url, (deadLetters) =>
          deadLetters.replay(queue, {
            ...{ where: filterOf(options), scan, limit, to, rate, dryRun },
            ids: ids.length > 0 ? ids : undefined,
            signal: interrupt.signal,
            onProgress: (progress) =>
              bar.show(progress.scanned, progress.total, texts.cliProgress(progress)),
          }),
        );
        bar.end();
        host.out(json ? jsonOf(result) : replayView(result, styleOf(host)));
        exitWith(exitCodeOf(result));
      } finally {
        bar.end();
        end();
      }
    },
  );
};

function exitCodeOf({ ended, failed, duplicated }: ReplayResult): ExitCode {
  if (ended === 'failed') return EXIT_CODE.failure;
  if (ended === 'aborted') return EXIT_CODE.interrupted;
  return failed + duplicated > 0 ? EXIT_CODE.partial : EXIT_CODE.success;
}
