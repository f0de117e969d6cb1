// @ts-check
/**
 * `node scripts/test-install.mjs [11] [12]` does what README.md says about installing, in an empty folder for each kind
 * of application that `nest new` makes: the overrides where they are needed, the command with the packed tarball in the
 * place of the name of the package, and the quick start of examples/minimal, compiled and run on the in-memory broker.
 * A CommonJS application is also loaded from an ES module.
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCells } from './matrix/cells.mjs';
import { installedVersion } from './matrix/installed-version.mjs';
import { runQuietly } from './matrix/run-quietly.mjs';

/** @typedef {import('./matrix/cells.mjs').Cell} Cell */

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const asked = process.argv.slice(2);
/** What `nest new` makes: the major version of Nest, its TypeScript, and the kind of its modules. */
const applications = [
  { nest: '11', typescript: '^5.7.3', type: 'commonjs' },
  { nest: '12', typescript: '^6.0.2', type: 'commonjs' },
  { nest: '12', typescript: '^6.0.2', type: 'module' },
].filter(({ nest }) => asked.length === 0 || asked.includes(nest));
const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];

/** Settles one message of each kind in memory; loads the compiled application and the kit from an ES module. */
const story = `
import assert from 'node:assert/strict';
import { SettleTest } from 'nestjs-settle/testing';
import * as application from './dist/app.module.js';
import * as billing from './dist/billing.js';

const test = await SettleTest.create({ imports: [application.AppModule] }).compile();
const deliver = (card) => test.deliver(billing.Billing, 'charge', { id: 'A-1', card });
assert.equal((await deliver('valid')).decision, 'ack');
assert.equal((await deliver('slow')).decision, 'republish');
assert.equal((await deliver('stolen')).decision, 'deadLetter');
await test.advance('10s');
assert.equal((await test.queue('billing.dead')).ready, 1);
await test.close();
`;

/** As in the tsconfig.json of `nest new`, and strict. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  resolvePackageJsonExports: true,
  esModuleInterop: true,
  isolatedModules: true,
  declaration: true,
  strict: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  skipLibCheck: true,
  types: ['node'],
  rootDir: 'src',
  outDir: 'dist',
};

const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-install-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
try {
  await run(['npm', 'pack', '--pack-destination', folder], root);
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  process.exitCode = await runCells(
    applications.map((application) => cellOf(application, tarball)),
    (line) => console.log(line),
  );
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {(typeof applications)[number]} application
 * @param {string} tarball
 * @returns {Cell}
 */
function cellOf({ nest, typescript, type }, tarball) {
  return {
    name: `README on Nest ${nest}, ${type}`,
    run: async () => {
      const app = mkdtempSync(join(folder, `nest-${nest}-${type}-`));
      const overrides = nest === '12' ? JSON.parse(overridesIn(readme)) : {};
      writeFileSync(
        join(app, 'package.json'),
        JSON.stringify({ private: true, type, ...overrides }),
      );
      const ofNest = ['common', 'core', 'testing'].map((name) => `@nestjs/${name}@${nest}`);
      const beside = [
        'reflect-metadata@0.2',
        'rxjs@7',
        '@types/node@20',
        `typescript@${typescript}`,
      ];
      await run(['npm', 'install', ...quiet, ...ofNest, ...beside], app);
      const [npm = 'npm', ...parameters] = commandIn(readme).split(' ');
      const words = parameters.map((word) => (word === 'nestjs-settle' ? tarball : word));
      await run([npm, ...words, ...quiet], app);
      cpSync(join(root, 'examples/minimal/src'), join(app, 'src'), { recursive: true });
      if (type === 'module') addExtensions(join(app, 'src'));
      writeFileSync(join(app, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      await run(['npx', 'tsc'], app);
      writeFileSync(join(app, 'story.mjs'), story);
      await run([process.execPath, 'story.mjs'], app);
      const found = ['@nestjs/core', '@golevelup/nestjs-rabbitmq', 'typescript'].map(
        (name) => `${name} ${installedVersion(app, name)}`,
      );
      return { passed: true, summary: found.join(', ') };
    },
  };
}

/**
 * Adds the extensions to relative imports that ES modules need.
 *
 * @param {string} source
 */
function addExtensions(source) {
  for (const name of readdirSync(source)) {
    const file = join(source, name);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/(from '\.[^']*)'/g, "$1.js'"));
  }
}

/**
 * The command that the README has for installing.
 *
 * @param {string} text
 */
function commandIn(text) {
  const [, command] = /^(npm install .*nestjs-settle.*)$/m.exec(text) ?? [];
  if (command === undefined) throw new Error('README.md has no line "npm install nestjs-settle"');
  return command.trim();
}

/**
 * The overrides that the README has for Nest 12, as JSON.
 *
 * @param {string} text
 */
function overridesIn(text) {
  const [, json] = /^```json\n(.*?"overrides".*?)^```$/ms.exec(text) ?? [];
  if (json === undefined) throw new Error('README.md has no "overrides"');
  return json;
}

/**
 * @param {readonly string[]} command
 * @param {string} cwd
 */
async function run(command, cwd) {
  const { code, output } = await runQuietly([...command], { cwd });
  if (code !== 0) throw new Error(`${command.join(' ')}: ${output}`);
}
