const MOST_BYTES = 1_024;
const MOST_SEGMENTS = 32;
const LONGEST_KEY = 64;

interface IssueFacts {
  readonly path: readonly (string | number)[];
  readonly code: string;
}

/**
 * The issues of a payload as `path: code`, in at most 1 024 bytes; those that have no room are counted.
 * @param total how many issues there are in all.
 */
export function invalidPayloadText(issues: readonly IssueFacts[], total: number): string {
  let text = '';
  let shown = 0;
  for (const { path, code } of issues) {
    const where = pathText(path);
    const next = `${shown === 0 ? '' : '; '}${where === '' ? '' : `${where}: `}${code}`;
    const left = restText(total - shown - 1);
    if (Buffer.byteLength(text + next + left) > MOST_BYTES) break;
    text += next;
    shown += 1;
  }
  if (shown === 0) return total === 1 ? '1 issue' : `${total} issues`;
  return text + restText(total - shown);
}

function restText(count: number): string {
  return count === 0 ? '' : `; and ${count} more`;
}

/** A path as code would write it: `items[0].price`. A key that is not an ordinary name can be data: `[*]`. */
function pathText(path: readonly (string | number)[]): string {
  const parts = path.slice(0, MOST_SEGMENTS).map((key, index) => {
    if (typeof key === 'number') return `[${key}]`;
    if (key.length > LONGEST_KEY || !/^[A-Za-z_$][\w$-]*$/.test(key)) return '[*]';
    return index === 0 ? key : `.${key}`;
  });
  return parts.join('') + (path.length > MOST_SEGMENTS ? '...' : '');
}
