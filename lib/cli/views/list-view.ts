import type { DeadLetter } from '../../dead-letters/dead-letter';
import type { DeadLetterGroup } from '../../dead-letters/groups';
import type { DeadLetterList } from '../../dead-letters/results';
import { escaped } from '../../log/format';
import { texts } from '../../log/texts';
import type { Style } from '../style';
import { type Column, cut, tableOf } from '../table';

const COLUMNS: readonly Column[] = [
  { heading: 'ID' },
  { heading: 'MESSAGE ID' },
  { heading: 'REASON' },
  { heading: 'ERROR' },
  { heading: 'FAILED AT' },
  { heading: 'ATTEMPTS', isNumber: true },
  { heading: 'REPLAYS', isNumber: true },
];

/** From this number on, messages of a quorum queue come close to the default delivery limit of 20. */
const MANY_RETURNS = 10;

/** Groups and messages for people. */
export function listView(list: DeadLetterList, style: Style, columns: number): string {
  const { queue, groups, letters, matched } = list;
  const parts = [`${style.bold(escaped(queue))}: ${texts.cliListed(list)}\n`];
  if (list.consumers > 0) parts.push(style.yellow(`${texts.cliHasConsumers(list.consumers)}\n`));
  if (list.highestDeliveryCount >= MANY_RETURNS) {
    parts.push(style.yellow(`${texts.cliManyReturns(list.highestDeliveryCount)}\n`));
  }
  if (matched === 0) return parts.join('');
  parts.push('\n', ...groups.map((group) => groupView(group, style, columns)), '\n');
  parts.push(tableOf(COLUMNS, letters.map(rowOf), style, columns));
  const left = matched - letters.length;
  if (left > 0) parts.push(style.dim(`${texts.cliMore(left)}\n`));
  return parts.join('');
}

function groupView(group: DeadLetterGroup, style: Style, columns: number): string {
  const { count, reason, errorName, errorMessage, handler, key, from, to } = group;
  const what = [reason, errorName, handler].filter((part) => part !== undefined).join('  ');
  const lines = [
    cut(`${String(count).padStart(6)}  ${escaped(what)}`, columns),
    ...(errorMessage ? [cut(`        ${escaped(errorMessage)}`, columns)] : []),
    style.dim(`        --group ${key}${from && to ? `  ${timeText(from)} – ${timeText(to)}` : ''}`),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function rowOf(letter: DeadLetter): string[] {
  const { id, messageId = '-', reason, errorName = '-', failedAt, attempts, replays } = letter;
  const failed = failedAt === undefined ? '-' : timeText(failedAt);
  return [id, messageId, reason, errorName, failed, String(attempts ?? '-'), String(replays)];
}

/** A time in ISO 8601, without fractions of a second. */
export function timeText(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
