import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useCompiledFixtures } from '../support/process/compiled';

describe('the entries of the package', () => {
  const compiled = useCompiledFixtures();

  /** The rooms of the library, and the optional packages, that an entry has loaded. */
  function loadedBy(entry: string): string[] {
    const lib = join(dirname(dirname(compiled.pathOfSample())), 'lib');
    const script = `
      require('reflect-metadata');
      require(${JSON.stringify(join(lib, entry))});
      console.log(JSON.stringify(Object.keys(require.cache)));
    `;
    const paths: string[] = JSON.parse(
      execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }),
    );
    const found = paths.flatMap((path) => {
      const own = /\/lib\/(opentelemetry|terminus|dead-letters|cli|testing|memory)\//.exec(path);
      const peer =
        /\/node_modules\/(@opentelemetry|@nestjs\/terminus|@nestjs\/testing|commander)\//.exec(
          path,
        );
      return [(path.startsWith(lib) ? own : peer)?.[1] ?? []].flat();
    });
    return [...new Set(found)].sort();
  }

  it.each([
    ['index.js', []],
    ['opentelemetry/index.js', ['@opentelemetry', 'opentelemetry']],
    ['terminus/index.js', ['@nestjs/terminus', 'terminus']],
  ])('%s loads no other entry and no optional package of one', (entry, expected) => {
    expect(loadedBy(entry)).toEqual(expected);
  });
}, 60_000);
