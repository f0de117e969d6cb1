import { deadLetterTexts, grouped } from './dead-letter-texts';
import { counted, escaped } from './format';

const messages = (count: number): string => `${grouped(count)} message${count === 1 ? '' : 's'}`;

/** How far a queue was read. */
export interface Looked {
  readonly scanned: number;
  readonly total: number;
  readonly matched: number;
}

/** The command `nestjs-settle`. */
export const cliTexts = {
  cliDescription: 'Looks after the queues of NestJS services on RabbitMQ.',
  cliHelpHint: '(nestjs-settle --help shows all commands and options)',
  cliExitCodes: `
Exit codes: 0 done, 1 failed or different (check), 2 invalid command line or not confirmed, 3 done in part, 130 interrupted.
Colours are used in terminals only; NO_COLOR=1 switches them off.`,
  cliError: (text: string): string => `nestjs-settle: ${text}`,
  cliUrl: 'the broker',
  cliModule: 'the root module of the application: ./dist/app.module.js#AppModule',
  cliRabbitmq: 'the version of RabbitMQ',
  cliDescribe: 'what every outcome and failure means for each subscription',
  cliTopology: 'queues, exchanges and bindings, waiting queues included, as definitions to import',
  cliFormat: 'the format: definitions, for `rabbitmqctl import_definitions`',
  cliVirtualHost: 'the virtual host, in place of that of the connection',
  cliCheck: 'compare queues and exchanges with the server; changes nothing',
  cliAllowMissing: 'accept what is missing if the application declares it',
  cliAsyncApi: 'an AsyncAPI 3 document of the subscriptions',
  cliTitle: 'the title of the document; default: the name in package.json',
  cliDocumentVersion: 'the version of the document; default: that in package.json',
  cliJson: 'the result as JSON',
  cliDead: 'list, show, replay and discard dead letters',
  cliList: 'group and list the messages of a dead-letter queue',
  cliShow: 'show one message with its body, headers and history',
  cliReplay: 'publish messages to the queues in which they failed, and remove them from this one',
  cliDiscard: 'delete messages, after a dry run or a question',
  cliQueue: 'the dead-letter queue',
  cliId: 'the id of a message, as list shows it',
  cliIds: 'the ids of messages; all that match if omitted',
  cliReason: 'only these reasons, such as timeout, error, attempts or expired',
  cliErrorName: 'only these classes of errors',
  cliHandler: 'only these handlers, such as Billing.charge',
  cliMessageId: 'only these message ids',
  cliGroup: 'only these groups, by the key that list shows',
  cliSince: 'only what failed at this time or later, such as 2026-11-30T12:00Z',
  cliUntil: 'only what failed at this time or earlier',
  cliScan: 'how many messages are held at most while the queue is read (default: 10 000)',
  cliListLimit: 'how many messages are listed (default: 20)',
  cliRunLimit: 'how many messages at most (default: all)',
  cliMaxBody: "how much of the body is shown, such as 1MiB (default: '16KiB')",
  cliTo: 'another queue (default: where each message failed)',
  cliRate: 'messages per second at most',
  cliReplayDryRun: 'only count what would be replayed',
  cliDiscardDryRun: 'only count what would be deleted; shows the token for --confirm',
  cliConfirm: 'the token of a dry run with the same options',
  cliQueues: 'ready, unacknowledged, waiting and dead messages, and consumers',
  cliQueueNames: 'these queues; all of the virtual host if omitted, which needs the management API',
  cliManagementUrl: 'the management API, such as http://localhost:15672',
  cliNameQueues: 'expected the names of queues, or --management-url, which shows all queues',
  cliManagementRefused: (url: string, status: number): string =>
    `the management API at ${url} replied with status ${status}`,
  cliWholeNumber: 'expected a whole number from 1',
  cliPositiveNumber: 'expected a number above 0',
  cliNoSuchLetter: (queue: string, id: string): string =>
    `no message with the id "${id}" among those that were read in queue "${queue}"`,
  cliListed: ({ scanned, total, matched }: Looked): string => {
    if (total === 0) return 'no messages';
    const looked = deadLetterTexts.scanned(scanned, total);
    return matched === scanned ? looked : `${grouped(matched)} match in ${looked}`;
  },
  cliHasConsumers: (count: number): string =>
    `The queue has ${counted(count, 'consumer')}, which take messages away.`,
  cliManyReturns: (count: number): string =>
    `Messages have been returned to this quorum queue up to ${count} times. Before RabbitMQ 4.3 each scan counts as a return, and a message above the delivery limit of its queue (20 by default since 4.0) is deleted.`,
  cliMore: (count: number): string => `and ${grouped(count)} more; --limit shows more`,
  cliBody: (size: number, shown: number | undefined): string =>
    shown === undefined
      ? `Body (${grouped(size)} bytes)`
      : `Body (the first ${grouped(shown)} of ${grouped(size)} bytes; --max-body shows more)`,
  cliProgress: (
    progress: Looked & { readonly replayed: number; readonly failed: number },
  ): string =>
    `${grouped(progress.scanned)}/${grouped(progress.total)}  replayed ${grouped(progress.replayed)}${progress.failed > 0 ? `, failed ${grouped(progress.failed)}` : ''}`,
  cliWouldReplay: (count: number): string => `Dry run: ${messages(count)} would be replayed.`,
  cliReplayed: (count: number): string => `${messages(count)} replayed.`,
  cliTarget: (count: number, queue: string): string => `${grouped(count)} to ${escaped(queue)}`,
  cliFailed: (count: number, text: string): string =>
    `${grouped(count)} not replayed: ${escaped(text)}`,
  cliFailedLetter: ({ id, messageId }: { id: string; messageId?: string | undefined }): string =>
    messageId === undefined ? id : `${id}  ${escaped(messageId)}`,
  cliMoreFailed: (count: number): string => `and ${grouped(count)} more`,
  cliDuplicated: (count: number): string =>
    `${messages(count)} published, but still in the dead-letter queue: the connection was lost before they could be acknowledged.`,
  cliWouldDiscard: (count: number): string => `Dry run: ${messages(count)} would be deleted.`,
  cliDiscarded: (count: number): string => `${messages(count)} deleted.`,
  cliHowToConfirm: (queue: string, token: string): string =>
    `To delete: nestjs-settle dead discard ${escaped(queue)} --confirm ${token}, with the same options`,
  cliDiscardQuestion: (queue: string, count: number): string =>
    `Delete ${messages(count)} of queue "${escaped(queue)}"? Type yes: `,
  cliLookedAt: (scanned: number, total: number): string =>
    `Looked at ${deadLetterTexts.scanned(scanned, total)}.`,
  cliEndedBy: (text: string): string => `Ended early: ${escaped(text)}`,
  cliEnded: {
    complete: undefined,
    limit: undefined,
    failed: undefined,
    scan: 'Ended early: as many messages as --scan permits are held; further ones may match.',
    target: 'Ended early: the target queue does not exist or refuses messages.',
    aborted: 'Interrupted. What was not replayed or deleted is still in the queue.',
  },
};
