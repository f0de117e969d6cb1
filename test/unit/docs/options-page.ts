import { join } from 'node:path';
import {
  BATCH_OPTIONS,
  ORDER_OPTIONS,
  RATE_OPTIONS,
} from '../../../lib/subscribe/consumer-option-table';
import { KILL_SWITCH_OPTIONS } from '../../../lib/subscribe/kill-switch-options';
import {
  DEAD_LETTER_OPTIONS,
  DECOMPRESS_OPTIONS,
  type OptionRow,
  RETRY_OPTIONS,
  SUBSCRIBE_OPTIONS,
  WHEN_OPTIONS,
} from '../../../lib/subscribe/option-table';
import { SETTLE_OPTIONS } from '../../../lib/subscribe/resolve-settle-options';
import { type DocComment, docCommentsIn } from './doc-comments';

const model = join(__dirname, '../../../lib/model');
const comments = new Map([
  ...docCommentsIn(join(model, 'options.ts')),
  ...docCommentsIn(join(model, 'payload-options.ts')),
  ...docCommentsIn(join(model, 'consumer-options.ts')),
  ...docCommentsIn(join(model, 'kill-switch-options.ts')),
  ...docCommentsIn(join(model, 'settle-options.ts')),
]);

const SHARED = 'Means the same as in golevelup’s `@RabbitSubscribe`.';

type Rows = Readonly<Record<string, Pick<OptionRow, 'expected' | 'byDefault'>>>;

/** docs/options.md, made of the table of options and their doc comments. */
export function optionsPage(): string {
  return `${[
    '# Options',
    'Made from the doc comments and the checks of the options; `npm run docs:options` writes it.',
    '## @Subscribe',
    ...sections(SUBSCRIBE_OPTIONS, '', [
      'CommonSubscribeOptions',
      'PayloadOptions',
      'ConsumerOptions',
      'AcknowledgedOptions',
      'NoAckOptions',
    ]),
    '## retry',
    ...sections(RETRY_OPTIONS, 'retry.', ['RetryOptions']),
    '## deadLetter',
    ...sections(DEAD_LETTER_OPTIONS, 'deadLetter.', ['DeadLetterOptions']),
    '## decompress',
    ...sections(DECOMPRESS_OPTIONS, 'decompress.', ['DecompressOptions']),
    '## when',
    ...sections(WHEN_OPTIONS, 'when.', ['WhenOptions']),
    '## batch',
    ...sections(BATCH_OPTIONS, 'batch.', ['BatchOptions']),
    '## order',
    ...sections(ORDER_OPTIONS, 'order.', ['OrderOptions']),
    '## rate',
    ...sections(RATE_OPTIONS, 'rate.', ['RateOptions']),
    '## killSwitch',
    ...sections(KILL_SWITCH_OPTIONS, 'killSwitch.', ['KillSwitchOptions']),
    '## SettleModule.forRoot',
    ...sections(SETTLE_OPTIONS, '', ['SettleModuleOptions']),
  ].join('\n\n')}\n`;
}

function sections(rows: Rows, prefix: string, interfaces: readonly string[]): string[] {
  return Object.entries(rows).map(([name, row]) => {
    const comment = interfaces
      .map((one) => comments.get(`${one}.${name}`))
      .find((found) => found !== undefined);
    return section(`${prefix}${name}`, row, comment);
  });
}

function section(
  name: string,
  { expected, byDefault }: Rows[string],
  comment?: DocComment,
): string {
  const example = comment?.example;
  const lines = [
    `- Expected: ${marked(expected)}`,
    `- Default: ${marked(comment?.byDefault ?? byDefault)}`,
    ...(example === undefined ? [] : [`- Example: \`${name.split('.').at(-1)}: ${example}\``]),
  ];
  return [`### ${name}`, comment?.text ?? SHARED, lines.join('\n')].join('\n\n');
}

// Braces would be taken for attributes by the site; what is code looks like it.
function marked(text: string): string {
  return text.includes('`') ? text : text.replace(/\{[^}]*\}|'[^']*'|\w+\([^)]*\)/g, '`$&`');
}
