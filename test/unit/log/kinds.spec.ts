import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_KINDS } from '../../../lib/log/kinds';

const page = readFileSync(join(__dirname, '../../../docs/troubleshooting.md'), 'utf8');

describe('docs/troubleshooting.md', () => {
  const headings = [...page.matchAll(/^### (\S+)$/gm)].map(([, heading]) => heading);

  it('has one heading for each kind, and no other', () => {
    expect([...headings].sort()).toEqual(Object.keys(LOG_KINDS).sort());
  });

  it.each(Object.entries(LOG_KINDS))('names the level of [%s]: %s', (kind, level) => {
    const [, section = ''] = page.split(`\n### ${kind}\n`);
    expect(section.trimStart()).toMatch(new RegExp(`^Level \`${level}\``));
  });
});
