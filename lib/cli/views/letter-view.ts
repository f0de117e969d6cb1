import { bodyText } from '../../dead-letters/body-text';
import type { DeadLetterDetails, DeadLetterEvent } from '../../dead-letters/dead-letter';
import { escaped } from '../../log/format';
import { texts } from '../../log/texts';
import type { Style } from '../style';
import { timeText } from './list-view';

/** One message for people: what is known of it, its history, headers and body. */
export function letterView(letter: DeadLetterDetails, style: Style): string {
  const { headers, properties, history, body, isTruncated, size } = letter;
  const lines = [
    ...factsOf(letter).map(([name, value]) => `${style.dim(name.padEnd(14))} ${escaped(value)}`),
    ...section('History', history.map(eventText), style),
    ...section('Headers', entriesOf(headers), style),
    ...section('Properties', entriesOf(properties), style),
    ...section(texts.cliBody(size, isTruncated ? body.length : undefined), bodyLines(body), style),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function factsOf(letter: DeadLetterDetails): readonly (readonly [string, string])[] {
  const { origin, failedAt, attempts, replays, replayedAt } = letter;
  const facts: readonly (readonly [string, string | number | undefined])[] = [
    ['id', letter.id],
    ['message id', letter.messageId],
    ['position', letter.position],
    ['reason', letter.reason],
    ['error', [letter.errorName, letter.errorMessage].filter(Boolean).join(': ') || undefined],
    ['handler', letter.handler],
    ['queue', origin?.queue],
    ['exchange', origin?.exchange],
    ['routing key', origin?.routingKey],
    ['failed at', failedAt && timeText(failedAt)],
    ['attempts', attempts],
    ['replays', replays > 0 && replayedAt ? `${replays}, ${timeText(replayedAt)}` : replays],
  ];
  return facts
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);
}

function eventText({ at, kind, queue, reason, count }: DeadLetterEvent): string {
  const parts = [at === undefined ? '-' : timeText(at), kind, queue, reason];
  const text = parts.filter((part) => part !== undefined && part !== '').join('  ');
  return escaped(count > 1 ? `${text}  ×${count}` : text);
}

function entriesOf(table: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(table).map(([name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return escaped(`${name}: ${text}`);
  });
}

// Lines of a text are its own; every other control character is escaped.
function bodyLines(body: Buffer): string[] {
  return bodyText(body).split('\n').map(escaped);
}

function section(title: string, lines: readonly string[], style: Style): string[] {
  return lines.length === 0 ? [] : ['', style.bold(title), ...lines.map((line) => `  ${line}`)];
}
