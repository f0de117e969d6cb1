/** How many levels are indented: every further one would add as much to each line of the levels below. */
const MOST_LEVELS = 32;

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * JSON with line breaks and indentation; its numbers and strings stay as they are written, since a parsed
 * number can lose digits.
 */
export function indented(json: string): string {
  let depth = 0;
  let previous = '';
  let text = '';
  for (const token of tokensOf(json)) {
    if (token === '}' || token === ']') {
      depth -= 1;
      text += previous === '{' || previous === '[' ? token : `${newLine(depth)}${token}`;
    } else {
      const opens = previous === '{' || previous === '[' || previous === ',';
      text += `${opens ? newLine(depth) : ''}${token}${token === ':' ? ' ' : ''}`;
      if (token === '{' || token === '[') depth += 1;
    }
    previous = token;
  }
  return text;
}

function newLine(depth: number): string {
  return `\n${'  '.repeat(Math.min(depth, MOST_LEVELS))}`;
}

// Not with one expression: that would overflow the stack at a string of some MB.
function* tokensOf(json: string): Generator<string> {
  const other = /[{}[\],:]|[^\s{}[\],:"]+/y;
  let at = 0;
  while (at < json.length) {
    other.lastIndex = at;
    const token = json[at] === '"' ? stringAt(json, at) : other.exec(json)?.[0];
    if (token !== undefined) yield token;
    at += token?.length ?? 1;
  }
}

function stringAt(json: string, at: number): string {
  let end = json.indexOf('"', at + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return json.slice(at, end + 1);
}

function isEscaped(json: string, at: number): boolean {
  let before = at;
  while (json[before - 1] === '\\') before -= 1;
  return (at - before) % 2 === 1;
}
