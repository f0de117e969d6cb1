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

  it('has the folders of the design, and is all looked at', () => {
    const folders = new Set([...files.keys()].map((path) => path.split('/')[0]));
    for (const folder of ['outcome', 'subscription', 'delivery', 'pipeline', 'settlement']) {
      expect(folders).toContain(folder);
    }
    expect(files.has('clock.ts')).toBe(true);
  });

  it('is as the design says: directions, cycles, packages, time, texts and length', () => {
    expect(violationsOf(files)).toEqual([]);
  });
});

/** The violations of files that are made up, beside some that all may lean on. */
function violations(made: Readonly<Record<string, string>>): readonly string[] {
  const base = {
    'index.ts': "export { ack } from './outcome/outcome';",
    'clock.ts': 'export const now = () => Date.now();',
    'outcome/outcome.ts': 'export const ack = 1;',
    'outcome/messages.ts': 'export const messages = {};',
    'subscription/subscription.ts': 'export interface Subscription {}',
    'delivery/delivery.ts': 'export interface Delivery {}',
    'pipeline/chain.ts': 'export const chain = 1;',
    'settlement/settlement.ts': 'export interface Settlement {}',
    'broker/port.ts': 'export interface Broker {}',
    'rabbitmq/broker.ts': 'export const rabbit = 1;',
    'memory/broker.ts': 'export const memory = 1;',
    'runtime/registrar.ts': 'export const registrar = 1;',
    'testing/index.ts': 'export const testing = 1;',
    'testing/harness.ts': 'export const harness = 1;',
    'settle.module.ts': 'export const module = 1;',
  };
  return violationsOf(new Map(Object.entries({ ...base, ...made })));
}

const FILE_OF: Readonly<Record<string, string>> = {
  outcome: 'outcome/outcome',
  subscription: 'subscription/subscription',
  delivery: 'delivery/delivery',
  pipeline: 'pipeline/chain',
  broker: 'broker/port',
  settlement: 'settlement/settlement',
  rabbitmq: 'rabbitmq/broker',
  memory: 'memory/broker',
  runtime: 'runtime/registrar',
  testing: 'testing/harness',
  module: 'settle.module',
};

describe('the checker', () => {
  it('finds nothing in files that are as they should be', () => {
    expect(violations({})).toEqual([]);
  });

  const all = Object.keys(FILE_OF);
  const allowedFrom: Readonly<Record<string, readonly string[]>> = {
    outcome: [],
    subscription: ['outcome'],
    delivery: ['outcome', 'subscription'],
    pipeline: ['outcome', 'subscription', 'delivery'],
    broker: ['outcome', 'subscription', 'delivery'],
    settlement: ['outcome', 'subscription', 'delivery', 'pipeline', 'broker'],
    rabbitmq: ['outcome', 'subscription', 'delivery', 'broker'],
    memory: ['outcome', 'subscription', 'delivery', 'broker'],
    runtime: all.filter((to) => to !== 'testing' && to !== 'module'),
    testing: all,
  };
  const ways = Object.keys(allowedFrom).flatMap((from) =>
    all.filter((to) => to !== from).map((to) => [from, to] as const),
  );

  it.each(ways)('knows whether %s may import %s', (from, to) => {
    const path = `${from}/made-up.ts`;
    const isAllowed = allowedFrom[from]?.includes(to);
    for (const kind of ['import', 'import type']) {
      const text = `${kind} { one } from '../${FILE_OF[to]}';`;
      const expected = isAllowed ? [] : [`${path}:1: imports ${FILE_OF[to]}.ts`];
      expect(violations({ [path]: text })).toEqual(expected);
    }
  });

  it('lets the module import the runtime and not the test kit, as the public names do', () => {
    const text = (name: string): string => `export { one } from './${FILE_OF[name]}';`;
    expect(violations({ 'settle.module.ts': text('client') })).toEqual([]);
    expect(violations({ 'index.ts': text('module') })).toEqual([]);
    for (const path of ['settle.module.ts', 'index.ts']) {
      expect(violations({ [path]: text('testing') })).toHaveLength(1);
    }
  });

  it('lets anyone import the clock, and the clock nobody', () => {
    expect(violations({ 'outcome/made-up.ts': "import { now } from '../clock';" })).toEqual([]);
    expect(violations({ 'clock.ts': "import { ack } from './outcome/outcome';" })).toEqual([
      'clock.ts:1: imports outcome/outcome.ts',
    ]);
  });

  it('allows two types against the direction, as types and nowhere else', () => {
    const settlement = "{ Settlement } from '../settlement/settlement';";
    expect(violations({ 'outcome/outcome.ts': `import type ${settlement}` })).toEqual([]);
    expect(violations({ 'outcome/policy.ts': `import type ${settlement}` })).toHaveLength(1);
    expect(violations({ 'outcome/outcome.ts': `import ${settlement}` })).toHaveLength(1);
    const delivery = "{ Delivery } from '../delivery/delivery';";
    expect(violations({ 'outcome/policy.ts': `import type ${delivery}` })).toEqual([]);
    expect(violations({ 'outcome/outcome.ts': `import type ${delivery}` })).toHaveLength(1);
  });

  it.each([
    "import { chain } from '../pipeline/chain';",
    "import chain from '../pipeline/chain';",
    "import * as chain from '../pipeline/chain';",
    "import '../pipeline/chain';",
    "import { type A, chain } from '../pipeline/chain';",
    "export { chain } from '../pipeline/chain';",
    "export * from '../pipeline/chain';",
    "export type { A } from '../pipeline/chain';",
    "import chain = require('../pipeline/chain');",
    "const chain = require('../pipeline/chain');",
    "const chain = await import('../pipeline/chain');",
    "let chain: import('../pipeline/chain').A;",
    "import { chain } from '../pipeline/chain.ts';",
  ])('sees %s', (text) => {
    expect(violations({ 'outcome/made-up.ts': text })).toEqual([
      'outcome/made-up.ts:1: imports pipeline/chain.ts',
    ]);
  });

  it.each(["from '..'", "from '../index'", "from '../testing'", "from '../testing/index'"])(
    'lets nobody import an entrance: %s',
    (from) => {
      for (const folder of ['client', 'outcome']) {
        expect(violations({ [`${folder}/made-up.ts`]: `import { a } ${from};` })).toHaveLength(1);
      }
    },
  );

  it('finds a file outside the folders of the design', () => {
    expect(violations({ 'utils/strings.ts': '' })).toEqual([
      'utils/strings.ts: in no folder of the design',
    ]);
  });

  it('finds cycles of values, also over several files, and lets types close a circle', () => {
    const cycle = {
      'outcome/a.ts': "import { b } from './b';",
      'outcome/b.ts': "export * from './c';",
      'outcome/c.ts': "import { type B, a } from './a';",
    };
    expect(violations(cycle)).toEqual([
      'a cycle: outcome/a.ts -> outcome/b.ts -> outcome/c.ts -> outcome/a.ts',
    ]);
    expect(violations({ ...cycle, 'outcome/c.ts': "import type { a } from './a';" })).toEqual([]);
    expect(
      violations({ ...cycle, 'outcome/c.ts': "import { type A, type B } from './a';" }),
    ).toEqual([]);
    expect(violations({ 'outcome/a.ts': "import { a } from './a';" })).toHaveLength(1);
  });

  it('finds a file of more than 250 lines', () => {
    expect(violations({ 'outcome/long.ts': '// a line\n'.repeat(250) })).toEqual([]);
    expect(violations({ 'outcome/long.ts': '// a line\n'.repeat(251) })).toEqual([
      'outcome/long.ts: 251 lines',
    ]);
  });

  it.each<[string, string, string, boolean]>([
    ['golevelup', '@golevelup/nestjs-rabbitmq', 'rabbitmq/made-up.ts', true],
    ['golevelup', '@golevelup/nestjs-rabbitmq', 'runtime/made-up.ts', false],
    ['golevelup', '@golevelup/nestjs-rabbitmq', 'subscription/options.ts', false],
    ['golevelup', '@golevelup/nestjs-discovery', 'runtime/made-up.ts', false],
    ['amqplib', 'amqplib', 'rabbitmq/made-up.ts', true],
    ['amqplib', 'amqplib/lib/channel', 'memory/made-up.ts', false],
    ['amqplib', 'amqplib', 'delivery/message.ts', false],
    ['its manager', 'amqp-connection-manager', 'runtime/made-up.ts', false],
    ['Nest’s core', '@nestjs/core', 'runtime/made-up.ts', true],
    ['Nest’s core', '@nestjs/core', 'settle.module.ts', true],
    ['golevelup', '@golevelup/nestjs-rabbitmq', 'testing/made-up.ts', true],
    ['Nest’s core', '@nestjs/core', 'testing/made-up.ts', true],
    ['amqplib', 'amqplib', 'testing/made-up.ts', false],
    ['golevelup', '@golevelup/nestjs-rabbitmq', 'settle.module.ts', false],
    ['Nest’s core', '@nestjs/core/injector/module', 'subscription/made-up.ts', false],
    ['Nest’s common part', '@nestjs/common', 'subscription/made-up.ts', true],
  ])('knows where %s may be imported: %s in %s', (_name, from, path, allowed) => {
    expect(violations({ [path]: `import { a } from '${from}';` })).toHaveLength(allowed ? 0 : 1);
  });

  it.each<[string, string, boolean]>([
    ['@golevelup/nestjs-rabbitmq', 'subscription/options.ts', true],
    ['@golevelup/nestjs-rabbitmq', 'subscription/subscription.ts', true],
    ['@golevelup/nestjs-rabbitmq', 'pipeline/decode.ts', true],
    ['@golevelup/nestjs-rabbitmq', 'pipeline/chain.ts', true],
    ['@golevelup/nestjs-rabbitmq', 'pipeline/call.ts', false],
    ['amqplib', 'delivery/message.ts', true],
    ['amqplib', 'delivery/delivery.ts', false],
    ['@nestjs/core', 'subscription/made-up.ts', false],
  ])('knows which files may name types of %s: %s', (from, path, allowed) => {
    const text = `import type { A } from '${from}';`;
    expect(violations({ [path]: text })).toHaveLength(allowed ? 0 : 1);
  });

  it.each([
    'setTimeout(work, 5);',
    'globalThis.setTimeout(work, 5);',
    'const { setImmediate } = globalThis;',
    'clearInterval(timer);',
    'queueMicrotask(work);',
    'process.nextTick(work);',
    'process.hrtime();',
    'const t = Date.now();',
    'const t = new Date();',
    'const t = Date();',
    'const t = performance.now();',
    'const s = AbortSignal.timeout(5);',
    "import { wait } from 'node:timers/promises';",
    "import { clock } from 'perf_hooks';",
  ])('lets only the clock use %s', (text) => {
    const path = 'runtime/made-up.ts';
    expect(violations({ [path]: text }).length).toBeGreaterThan(0);
    expect(violations({ 'clock.ts': text })).toEqual([]);
  });

  it.each([
    'const d = new Date(now);',
    'const t = clock.now();',
    'const s = AbortSignal.abort();',
    "const n = 'setTimeout';",
  ])('lets anyone use %s', (text) => {
    expect(violations({ 'runtime/made-up.ts': text })).toEqual([]);
  });

  it.each([
    "log.warn('kind', 'a sentence');",
    "this.logger.error('a sentence');",
    "this.#log.info('kind', 'a sentence');",
    "this.host.log.debug('kind', `a sentence`);",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    "log.warn('kind', `a sentence with ${name}`);",
    "log.warn('kind', name + ' happened');",
    "log.warn('kind', late ? 'too late' : 'early');",
    "writeLine(logger, 'warn', 'a sentence');",
    "console.log('a sentence');",
    "process.emitWarning('a sentence');",
  ])('finds a text outside the messages: %s', (text) => {
    expect(violations({ 'runtime/made-up.ts': text })).toHaveLength(1);
  });

  it.each([
    "log.warn('kind', messages.late(name));",
    "log.warn('kind', messages.late('a name'));",
    "writeLine(logger, 'warn', line);",
    "throw new Error('a sentence');",
    "history.log('a sentence');",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text.
    'log.warn(kind, `${handler}: ${text}`);',
  ])('lets pass %s', (text) => {
    expect(violations({ 'runtime/made-up.ts': text })).toEqual([]);
  });
});
