import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
];

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
  ...['billing.spec.ts', 'minimal.spec.ts'].map((name) => join('test', 'examples', 'vitest', name)),
  ...readdirSync(join(root, 'examples/minimal/src')).map((name) =>
    join('examples/minimal/src', name),
  ),
]
  .filter((path) => path.endsWith('.ts'))
  .map((path) => `\n${linesOf(readFileSync(join(root, path), 'utf8'))}\n`);

/** The snippets of a text; in a list they are indented. */
function snippetsOf(text: string): string[] {
  return [...text.matchAll(/^ *```ts\n(.*?)^ *```$/gms)].map(([, code = '']) => code);
}

/** The anchors of a page's headings. */
function headingsOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  );
}

/** Whether a link of a page leads to a place in it, to a file or folder, or to a place in another page. */
function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page : join(dirname(page), path);
  return (
    existsSync(join(root, file)) && (anchor === undefined || headingsOf(file).includes(anchor))
  );
}

it('README.md has snippets', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  expect(snippetsOf(readme).length).toBeGreaterThan(2);
});

describe.each(pages)('%s', (page) => {
  const text = readFileSync(join(root, page), 'utf8');
  const snippets = snippetsOf(text);

  it.each(snippets)('has only snippets of compiled files: %s', (snippet) => {
    const wanted = `\n${linesOf(snippet)}\n`;
    expect(compiled.some((code) => code.includes(wanted))).toBe(true);
  });

  it('has no broken link within the repository', () => {
    const links = [...text.matchAll(/\]\((?!https?:)([^)]*)\)/g)].map(([, target = '']) => target);
    expect(links.filter((target) => !leadsSomewhere(page, target))).toEqual([]);
  });
});

it('docs/index.md is the home page of the site: its front matter is YAML', () => {
  const page = readFileSync(join(root, 'docs/index.md'), 'utf8');
  expect(page).toMatch(/^---\nlayout: home\nhero:\n {2}name: nestjs-settle\n/);
  expect(page).toMatch(/\nfeatures:\n( {2}- title: .+\n {4}details: .+\n){8}---\n$/);
});
