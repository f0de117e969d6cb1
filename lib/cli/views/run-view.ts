import type {
  DiscardResult,
  ReplayFailure,
  ReplayResult,
  RunEnd,
  ScanResult,
} from '../../dead-letters/results';
import { errorText } from '../../log/format';
import { texts } from '../../log/texts';
import type { Style } from '../style';

/** How many messages of each failure are shown. */
const MOST_SHOWN = 5;

/** The result of a replay for people. */
export function replayView(result: ReplayResult, style: Style): string {
  const { dryRun, replayed, matched, targets, failures, duplicated } = result;
  const lines = [
    dryRun ? texts.cliWouldReplay(matched) : style.green(texts.cliReplayed(replayed)),
    ...targets.map(({ queue, count }) => `  ${texts.cliTarget(count, queue)}`),
    ...failures.flatMap((failure) => failureLines(failure, style)),
    ...(duplicated > 0 ? [style.yellow(texts.cliDuplicated(duplicated))] : []),
    ...endLines(result, style),
  ];
  return text(lines);
}

/** The result of discarding for people. */
export function discardView(result: DiscardResult, style: Style): string {
  const { dryRun, discarded, matched, queue, token } = result;
  const lines = [
    dryRun ? texts.cliWouldDiscard(matched) : style.green(texts.cliDiscarded(discarded)),
    ...(dryRun && token !== undefined && matched > 0 ? [texts.cliHowToConfirm(queue, token)] : []),
    ...endLines(result, style),
  ];
  return text(lines);
}

function failureLines({ count, text, letters }: ReplayFailure, style: Style): string[] {
  const shown = letters.slice(0, MOST_SHOWN);
  const more = count - shown.length;
  return [
    style.red(`  ${texts.cliFailed(count, text)}`),
    ...shown.map((letter) => `    ${texts.cliFailedLetter(letter)}`),
    ...(more > 0 ? [`    ${texts.cliMoreFailed(more)}`] : []),
  ];
}

function endLines(
  { scanned, total, ended, error }: ScanResult & { ended: RunEnd; error?: unknown },
  style: Style,
): string[] {
  const looked = style.dim(texts.cliLookedAt(scanned, total));
  if (ended === 'failed') return [looked, style.red(texts.cliEndedBy(errorText(error)))];
  const why = texts.cliEnded[ended];
  return why === undefined ? [looked] : [looked, style.yellow(why)];
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
