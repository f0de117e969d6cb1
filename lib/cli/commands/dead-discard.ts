import type { DeadLetters } from '../../dead-letters/dead-letters';
import type { DiscardResult } from '../../dead-letters/results';
import { texts } from '../../log/texts';
import { type ConnectionOptions, withConnection } from '../connection-options';
import { EXIT_CODE } from '../exit-code';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';
import { type FilterOptions, filterOf, withFilter } from '../selection-options';
import { styleOf } from '../style';
import { discardView } from '../views/run-view';
import { withDeadLetters } from '../with-dead-letters';

interface DiscardCommandOptions extends FilterOptions, ConnectionOptions {
  readonly dryRun?: boolean;
  readonly confirm?: string;
}

/** `nestjs-settle dead discard <queue> [ids...]`: after a dry run, or after a question in a terminal. */
export const registerDiscard: RegisterCommand = (program, { host, exitWith }) => {
  const command = program
    .command('discard')
    .description(texts.cliDiscard)
    .argument('<queue>', texts.cliQueue)
    .argument('[ids...]', texts.cliIds)
    .option('--dry-run', texts.cliDiscardDryRun)
    .option('--confirm <token>', texts.cliConfirm);
  withConnection(withFilter(command, texts.cliRunLimit)).action(
    async (queue: string, ids: string[], options: DiscardCommandOptions) => {
      const { url, json, scan, limit, dryRun, confirm } = options;
      const interrupt = new AbortController();
      const end = host.onInterrupt(() => interrupt.abort());
      const selected = {
        ...{ where: filterOf(options), scan, limit, signal: interrupt.signal },
        ids: ids.length > 0 ? ids : undefined,
      };
      const discard = async (deadLetters: DeadLetters): Promise<DiscardResult> => {
        if (confirm !== undefined) return deadLetters.discard(queue, { ...selected, confirm });
        const planned = await deadLetters.discard(queue, { ...selected, dryRun: true });
        if (dryRun || planned.matched === 0 || json) return planned;
        const answer = await host.ask(texts.cliDiscardQuestion(queue, planned.matched));
        if (answer?.trim().toLowerCase() !== 'yes') return planned;
        return deadLetters.discard(queue, { ...selected, confirm: planned.token });
      };
      try {
        const result = await withDeadLetters(url, discard);
        host.out(json ? jsonOf(result) : discardView(result, styleOf(host)));
        if (result.ended === 'failed') exitWith(EXIT_CODE.failure);
        else if (result.ended === 'aborted') exitWith(EXIT_CODE.interrupted);
        // What was asked for was not done.
        else if (!dryRun && result.dryRun && result.matched > 0) exitWith(EXIT_CODE.usage);
      } finally {
        end();
      }
    },
  );
};
