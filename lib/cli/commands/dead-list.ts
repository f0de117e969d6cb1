import { texts } from '../../log/texts';
import { type ConnectionOptions, withConnection } from '../connection-options';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';
import { type FilterOptions, filterOf, withFilter } from '../selection-options';
import { styleOf } from '../style';
import { listView } from '../views/list-view';
import { withDeadLetters } from '../with-dead-letters';

/** `nestjs-settle dead list <queue>`: groups, and the first messages. */
export const registerList: RegisterCommand = (program, { host }) => {
  const command = program
    .command('list')
    .description(texts.cliList)
    .argument('<queue>', texts.cliQueue);
  withConnection(withFilter(command, texts.cliListLimit)).action(
    async (queue: string, options: FilterOptions & ConnectionOptions) => {
      const { scan, limit = 20, url, json } = options;
      const list = await withDeadLetters(url, (deadLetters) =>
        deadLetters.list(queue, { where: filterOf(options), scan, limit }),
      );
      host.out(json ? jsonOf(list) : listView(list, styleOf(host), host.columns));
    },
  );
};
