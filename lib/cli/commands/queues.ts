import { Option } from 'commander';
import { systemClock } from '../../clock';
import { texts } from '../../log/texts';
import { type ConnectionOptions, withConnection } from '../connection-options';
import { jsonOf } from '../json';
import type { RegisterCommand } from '../program';
import { groupQueues, type QueueInfo } from '../queue-groups';
import { checkedQueues, managedQueues } from '../queue-sources';
import { styleOf } from '../style';
import { queuesView } from '../views/queues-view';

const CLOSING_LIMIT = 1_000;

interface QueuesOptions extends ConnectionOptions {
  readonly managementUrl?: string;
}

/** `nestjs-settle queues [names...]`: messages and consumers, waiting and dead messages included. */
export const registerQueues: RegisterCommand = (program, { host }) => {
  const command = program
    .command('queues')
    .description(texts.cliQueues)
    .argument('[queues...]', texts.cliQueueNames)
    .addOption(
      new Option('--management-url <url>', texts.cliManagementUrl).env('RABBITMQ_MANAGEMENT_URL'),
    );
  withConnection(command).action(async (names: string[], options: QueuesOptions) => {
    const { url, managementUrl, json } = options;
    if (managementUrl === undefined && names.length === 0) throw new TypeError(texts.cliNameQueues);
    const queues =
      managementUrl === undefined
        ? await overAmqp(url, names)
        : await managedQueues(managementUrl, virtualHostOf(url));
    const groups = groupQueues(queues).filter(
      ({ name }) => names.length === 0 || names.includes(name),
    );
    host.out(json ? jsonOf(groups) : queuesView(groups, styleOf(host), host.columns));
  });
};

async function overAmqp(url: string, names: readonly string[]): Promise<readonly QueueInfo[]> {
  const { UrlConnection } = await import('../../rabbitmq/url-connection.js');
  const connection = await UrlConnection.open(url, systemClock);
  try {
    const client = await connection.openQueueClient();
    try {
      return await checkedQueues(client, names);
    } finally {
      await client.close(CLOSING_LIMIT);
    }
  } finally {
    await connection.close();
  }
}

function virtualHostOf(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || '/';
}
