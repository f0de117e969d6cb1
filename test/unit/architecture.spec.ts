import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { violationsOf } from './architecture/rules';

const LIB = join(__dirname, '../../lib');

function filesOf(folder: string): Map<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path).split(sep).join('/'), readFileSync(path, 'utf8')]),
  );
}

describe('lib', () => {
  const files = filesOf(LIB);

  it('is read completely', () => {
    for (const path of ['clock.ts', 'model/outcome.ts', 'settlement/decide.ts', 'index.ts']) {
      expect(files.has(path)).toBe(true);
    }
    expect(files.size).toBeGreaterThan(100);
  });

  it('keeps to its rooms, packages, clock, texts and sizes', () => {
    expect(violationsOf(files)).toEqual([]);
  });
});

/** The violations of invented files, beside some that they may import. */
function violations(invented: Readonly<Record<string, string>>): readonly string[] {
  const base = {
    'index.ts': "export { ack } from './model/outcome';",
    'clock.ts': 'export const now = () => Date.now();',
    'model/outcome.ts': 'export const ack = 1;',
    'pipeline/chain.ts': 'export const chain = 1;',
    'memory/broker.ts': 'export const memory = 1;',
    'testing/index.ts': 'export const testing = 1;',
  };
  return violationsOf(new Map(Object.entries({ ...base, ...invented })));
}

describe('the checker', () => {
  it('accepts imports along the direction', () => {
    const text = "import { now } from '../clock';\nimport { ack } from '../model/outcome';";
    expect(violations({ 'settlement/invented.ts': text })).toEqual([]);
  });

  it.each([
    "import { chain } from '../pipeline/chain';",
    "import type { Chain } from '../pipeline/chain';",
    "import * as chain from '../pipeline/chain';",
    "import '../pipeline/chain';",
    "export { chain } from '../pipeline/chain';",
    "export * from '../pipeline/chain';",
    "import chain = require('../pipeline/chain');",
    "const chain = require('../pipeline/chain');",
    "const chain = await import('../pipeline/chain');",
    "let chain: import('../pipeline/chain').A;",
    "import { chain } from '../pipeline/chain.ts';",
  ])('finds an import against the direction: %s', (text) => {
    expect(violations({ 'model/invented.ts': text })).toEqual([
      'model/invented.ts:1: imports pipeline/chain.ts',
    ]);
  });

  it.each([
    ['an adapter of the other', 'rabbitmq/invented.ts', "import { a } from '../memory/broker';"],
    ['the public names', 'nest/invented.ts', "import { ack } from '..';"],
    ['the names of the kit', 'testing/invented.ts', "import { a } from './index';"],
    ['anything by the clock', 'clock.ts', "import { ack } from './model/outcome';"],
  ])('finds an import of %s', (_what, path, text) => {
    expect(violations({ [path]: text })).toHaveLength(1);
  });

  it('finds a file outside the rooms', () => {
    expect(violations({ 'utils/strings.ts': '' })).toEqual([
      'utils/strings.ts: in no room of the architecture',
    ]);
  });

  it('finds cycles of values, and accepts circles of types', () => {
    const cycle = {
      'model/a.ts': "import { b } from './b';",
      'model/b.ts': "export * from './c';",
      'model/c.ts': "import { type B, a } from './a';",
    };
    expect(violations(cycle)).toEqual([
      'a cycle: model/a.ts -> model/b.ts -> model/c.ts -> model/a.ts',
    ]);
    const types = { ...cycle, 'model/c.ts': "import { type A, type B } from './a';" };
    expect(violations(types)).toEqual([]);
  });

  it.each<[string, string, boolean, boolean]>([
    ['@golevelup/nestjs-rabbitmq', 'rabbitmq/invented.ts', true, true],
    ['@golevelup/nestjs-rabbitmq', 'testing/invented.ts', true, true],
    ['@golevelup/nestjs-rabbitmq', 'nest/golevelup-metadata.ts', true, true],
    ['@golevelup/nestjs-rabbitmq', 'nest/invented.ts', false, false],
    ['@golevelup/nestjs-rabbitmq', 'model/options.ts', false, true],
    ['@golevelup/nestjs-rabbitmq', 'pipeline/call.ts', false, false],
    ['amqplib/lib/channel', 'rabbitmq/invented.ts', true, true],
    ['amqplib', 'model/delivery.ts', false, true],
    ['amqp-connection-manager', 'testing/invented.ts', false, false],
    ['@nestjs/core', 'lifecycle/invented.ts', true, true],
    ['@nestjs/core/injector/module', 'subscribe/invented.ts', false, false],
    ['@nestjs/common', 'subscribe/invented.ts', true, true],
  ])('knows who may import %s: %s (values: %s, types: %s)', (from, path, values, types) => {
    const kinds: readonly (readonly [string, boolean])[] = [
      ['import', values],
      ['import type', types],
    ];
    for (const [kind, isAllowed] of kinds) {
      const text = `${kind} { A } from '${from}';`;
      expect(violations({ [path]: text })).toHaveLength(isAllowed ? 0 : 1);
    }
  });

  it.each([
    'setTimeout(work, 5);',
    'const { setImmediate } = globalThis;',
    'queueMicrotask(work);',
    'process.nextTick(work);',
    'const t = Date.now();',
    'const t = new Date();',
    'const t = performance.now();',
    'const s = AbortSignal.timeout(5);',
    "import { wait } from 'node:timers/promises';",
  ])('finds time outside the clock: %s', (text) => {
    expect(violations({ 'lifecycle/invented.ts': text }).length).toBeGreaterThan(0);
    expect(violations({ 'clock.ts': text })).toEqual([]);
    expect(violations({ 'lifecycle/invented.ts': 'const d = new Date(now);' })).toEqual([]);
  });

  it('finds a file of more than 250 lines', () => {
    expect(violations({ 'model/long.ts': '// a line\n'.repeat(250) })).toEqual([]);
    expect(violations({ 'model/long.ts': '// a line\n'.repeat(251) })).toEqual([
      'model/long.ts: 251 lines',
    ]);
  });

  it('finds a constructor of more than seven parameters', () => {
    const text = (count: number): string => {
      const names = Array.from({ length: count }, (_, index) => `readonly p${index}: string`);
      return `class A {\n  constructor(${names.join(', ')}) {}\n}`;
    };
    expect(violations({ 'nest/invented.ts': text(7) })).toEqual([]);
    expect(violations({ 'nest/invented.ts': text(8) })).toEqual([
      'nest/invented.ts:2: a constructor with 8 parameters',
    ]);
  });

  it.each([
    "log.write('rejected', 'a sentence');",
    "log.write('rejected', () => 'a sentence');",
    "this.#log.debug('rejected', `a sentence`);",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    "this.host.log.write('rejected', `a sentence with ${name}`);",
    "log.write('rejected', late ? 'too late' : 'early');",
    "this.logger.error('a sentence');",
    "writeLine(logger, 'shutdown', 'a sentence');",
    "console.log('a sentence');",
    "process.emitWarning('a sentence');",
  ])('finds a sentence passed to a logger: %s', (text) => {
    expect(violations({ 'lifecycle/invented.ts': text })).toHaveLength(1);
  });

  it.each([
    "log.write('rejected', texts.late('a name'));",
    "writeLine(logger, 'shutdown', line);",
    "throw new Error('a sentence');",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    'log.write(kind, `${handler}: ${text}`);',
  ])('accepts %s', (text) => {
    expect(violations({ 'lifecycle/invented.ts': text })).toEqual([]);
  });
});
