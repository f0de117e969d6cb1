import { indented, isJson } from './indented-json';

/** How many bytes of a binary body are shown. */
const MOST_BINARY = 512;
const LINE = 16;

/** A body for people: JSON indented, other text as it is, anything else as hexadecimal numbers. */
export function bodyText(body: Buffer): string {
  const text = textOf(body);
  if (text === undefined) return hexText(body);
  // What is cut is no JSON.
  return isJson(text) ? indented(text) : text;
}

/** The text of a body in UTF-8; `undefined` if it is not one. A character that is cut at the end is left out. */
function textOf(body: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true });
  } catch {
    return undefined;
  }
}

function hexText(body: Buffer): string {
  const shown = body.subarray(0, MOST_BINARY);
  const lines: string[] = [];
  for (let offset = 0; offset < shown.length; offset += LINE) {
    const bytes = shown.subarray(offset, offset + LINE);
    const hex = bytes
      .toString('hex')
      .replace(/../g, '$& ')
      .padEnd(3 * LINE);
    const characters = bytes.toString('latin1').replace(/[^ -~]/g, '.');
    lines.push(`${offset.toString(16).padStart(4, '0')}  ${hex} ${characters}`);
  }
  if (body.length > shown.length) lines.push('…');
  return lines.join('\n');
}
