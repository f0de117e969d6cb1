import { counted, errorText, found } from './format';

/** The console: its options, and what it replies. */
export const consoleTexts = {
  consoleGuardsMissing:
    'SettleConsoleModule: guards: expected at least one guard, since the page shows messages and can act on them; found none',
  consoleOption: (name: string, expected: string, value: unknown): string =>
    `SettleConsoleModule: ${name}: expected ${expected}; found ${found(value)}`,
  consoleNeedsSettle:
    'SettleConsoleModule: expected SettleModule.forRoot() in the application; found none',
  consoleAssetsMissing: (folder: string, reason: string): string =>
    `SettleConsoleModule: the files of the page are not in ${folder} (${reason}). A bundler has to leave nestjs-settle out of the bundle`,
  consoleReadOnly: (action: string): string =>
    `The console is read-only here: the option allow does not contain "${action}".`,
  consoleForeignRequest: 'Refused: the request does not come from the page.',
  consoleNoSuchSubscription: 'There is no such subscription in this application.',
  consoleNoSuchQueue: 'No subscription of this application has this dead-letter queue.',
  consoleNoSuchMessage: 'The message is no longer in the queue.',
  consoleBadRequest: (name: string, expected: string): string => `${name}: expected ${expected}.`,
  consoleUnknownTarget: (queue: string): string =>
    `to: expected a queue of this application; found ${found(queue)}.`,
  consoleTaskEnded: (
    kind: 'replay' | 'discard',
    queue: string,
    count: number,
    ended: string,
    error: unknown,
  ): string =>
    `queue "${queue}": ${counted(count, 'message')} ${kind === 'replay' ? 'replayed' : 'discarded'} (${ended}${error === undefined ? '' : `: ${errorText(error)}`}).`,
  consoleTaskFailed: (kind: 'replay' | 'discard', queue: string, error: unknown): string =>
    `queue "${queue}": the ${kind} failed: ${errorText(error)}`,
  consoleClosing: 'The application is shutting down.',
  consoleTooManyTabs: (limit: number): string => `More than ${limit} pages are open.`,
};
