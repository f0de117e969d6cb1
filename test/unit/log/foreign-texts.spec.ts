import { BadRequestException } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { bounded } from '../../../lib/delivery/republish';
import { isWaitingQueue } from '../../../lib/delivery/waiting-queue';
import { errorText, escaped, found, idText, stackText } from '../../../lib/log/format';
import { texts } from '../../../lib/log/texts';
import { milliseconds } from '../../../lib/model/duration';
import { decodeJson } from '../../../lib/pipeline/decode';
import { aDelivery, aMessage } from '../fixtures';

const LENGTH = 100_000;

/** Texts on which a regular expression backtracks, if one does. */
const hostile: readonly (readonly [string, string])[] = [
  ['blanks', `${' '.repeat(LENGTH)}x`],
  ['line breaks', `${'\n'.repeat(LENGTH)}x`],
  ['blanks and line breaks', `${' \n'.repeat(LENGTH / 2)}x`],
  ['tabs before the end', `x${'\t'.repeat(LENGTH)}`],
  ['control characters', '\u001b'.repeat(LENGTH)],
  ['replacement characters', `${'\uFFFD'.repeat(LENGTH)}x`],
  ['digits', `${'1'.repeat(LENGTH)}x`],
  ['a waiting queue', `.wait.${'1'.repeat(LENGTH)}x`],
  ['frames', '\n    at '.repeat(LENGTH / 8)],
  ['brackets', '['.repeat(LENGTH)],
];

function withStack(text: string): Error {
  const error = new Error('x');
  error.stack = text;
  return error;
}

/** Everything that looks into a text that can come from a message. */
const readers: readonly (readonly [string, (text: string) => unknown])[] = [
  ['errorText of an error', (text) => errorText(new Error(text))],
  ['errorText of a text', errorText],
  ['errorText of an object', (text) => errorText({ [text]: text })],
  ['errorText of what a pipe found', (text) => errorText(new BadRequestException([text, text]))],
  ['stackText of an error', (text) => stackText(new Error(text))],
  ['stackText of a stack', (text) => stackText(withStack(text))],
  ['found', found],
  ['found in an object', (text) => found({ text })],
  ['idText', idText],
  ['escaped', escaped],
  ['bounded', (text) => bounded(text, 4_096)],
  ['isWaitingQueue', (text) => isWaitingQueue(text, 'billing')],
  ['milliseconds', milliseconds],
  ['the decoder', (text) => decodeJson(aMessage({ content: text }), true)],
  ['the content encoding', (text) => texts.unknownEncoding(text)],
  [
    'a result',
    (text) =>
      texts.result(aDelivery({}, aMessage({ properties: { messageId: text } })), text, {
        error: text,
      }),
  ],
];

describe.each(readers)('%s', (_name, read) => {
  it.each(hostile)('takes no long time for 100 kB of %s', (_what, text) => {
    const start = performance.now();
    read(text);
    // An expression that backtracks takes seconds.
    expect(performance.now() - start).toBeLessThan(500);
  });
});
