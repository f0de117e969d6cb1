import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type Options, transformFileSync } from '@swc/core';
import { afterAll, beforeAll } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');
const TREES = ['lib', 'sample-app', 'test/integration/fixtures'] as const;
const ASSETS = 'lib/console/assets';

const OPTIONS: Options = {
  configFile: false,
  swcrc: false,
  sourceMaps: 'inline',
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    baseUrl: ROOT,
    paths: {
      'nestjs-settle': ['./lib/index.ts'],
      'nestjs-settle/*': ['./lib/*/index.ts'],
    },
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
  },
};

/**
 * Compiles the library, the sample and the applications of the tests as they stand into a folder of their own, with
 * the files of the console's page,
 * so that a child process runs them without any build made by hand. The folder goes with the test file.
 */
export function useCompiledFixtures(): {
  pathOf(fixture: string): string;
  pathOfSample(): string;
  pathOfCommand(): string;
} {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'settle-fixtures-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const tree of TREES) compile(tree, folder);
    cpSync(join(ROOT, ASSETS), join(folder, ASSETS), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    pathOf: (fixture) => join(folder, 'test/integration/fixtures', `${fixture}.js`),
    pathOfSample: () => join(folder, 'sample-app', 'main.js'),
    pathOfCommand: () => join(folder, 'lib', 'cli', 'main.js'),
  };
}

function compile(tree: string, folder: string): void {
  const entries = readdirSync(join(ROOT, tree), { recursive: true, encoding: 'utf8' });
  for (const entry of entries.filter((name) => name.endsWith('.ts'))) {
    const { code } = transformFileSync(join(ROOT, tree, entry), optionsFor(entry));
    const target = join(folder, tree, entry.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, code);
  }
}

// It loads the file that the command line names, by its URL, which require() does not take.
function optionsFor(entry: string): Options {
  if (entry !== join('cli', 'module-reference.ts')) return OPTIONS;
  return { ...OPTIONS, module: { type: 'commonjs', ignoreDynamic: true } };
}
