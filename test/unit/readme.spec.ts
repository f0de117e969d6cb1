import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The lines without indentation and without empty ones. */
function linesOf(code: string): string {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** What `npm run check:types` compiles and a snippet may come from. */
const compiled = [
  ...readdirSync(join(root, 'sample-app')).map((name) => join('sample-app', name)),
  ...readdirSync(join(root, 'test', 'types')).map((name) => join('test', 'types', name)),
  join('test', 'examples', 'vitest', 'billing.spec.ts'),
]
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `\n${linesOf(readFileSync(join(root, path), 'utf8'))}\n`);

const snippets = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

describe('README.md', () => {
  it('has snippets', () => {
    expect(snippets.length).toBeGreaterThan(5);
  });

  it.each(snippets)('shows a piece of a compiled file: %s', (snippet) => {
    const wanted = `\n${linesOf(snippet)}\n`;
    expect(compiled.some((code) => code.includes(wanted))).toBe(true);
  });

  it('has no link to a place in itself or the repository that is not there', () => {
    const headings = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, text = '']) =>
      text
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...readme.matchAll(/\]\((?!https?:)([^)]*)\)/g)].map(
      ([, target = '']) => target,
    );
    const missing = links.filter((target) => {
      if (target.startsWith('#')) return !headings.includes(target.slice(1));
      try {
        readFileSync(join(root, target));
        return false;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code !== 'EISDIR';
      }
    });
    expect(missing).toEqual([]);
  });
});
