// @ts-check
/**
 * `node scripts/test-types.mjs [nest-11] [nest-12] [5.4] [5.9] [6] [7]` compiles an application that has the built
 * package installed, on each major version of Nest, under several versions of TypeScript and each way of resolving
 * modules, with strict settings and declarations. What is marked in it as an error has to be one. The versions come
 * from npm; those of TypeScript are kept in `.cache/types`. One line a cell; a version that can't be had has failed.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCells } from './matrix/cells.mjs';
import { makeConsumer, writeProject } from './matrix/consumer.mjs';
import { installInto } from './matrix/installed-folder.mjs';
import { installedVersion } from './matrix/installed-version.mjs';
import { runQuietly } from './matrix/run-quietly.mjs';

/** @typedef {import('./matrix/cells.mjs').Cell} Cell */

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache', 'types');
const versions = ['5.4', '5.9', '6', '7'];
const majors = /** @type {const} */ (['11', '12']);
const asked = process.argv.slice(2);
const resolutions = /** @type {const} */ (['node16', 'nodenext', 'bundler']);

if (!existsSync(join(root, 'dist', 'index.js'))) {
  console.error('dist/index.js is missing; run `npm run build` first');
  process.exit(1);
}
const known = [...majors.map((major) => `nest-${major}`), ...versions];
const unknown = asked.find((word) => !known.includes(word));
if (unknown !== undefined) {
  console.error(`expected some of ${known.join(', ')}; found ${unknown}`);
  process.exit(2);
}
// Outside of this repository: what is not installed there is not to be found here.
const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-types-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
try {
  process.exitCode = await runCells(await cells(), (line) => console.log(line));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** @returns {Promise<Cell[]>} */
async function cells() {
  /** @type {Cell[]} */
  const all = [];
  for (const major of chosen(majors, (one) => `nest-${one}`)) {
    const consumer = join(folder, `nest-${major}`);
    await makeConsumer(root, consumer, major);
    const nest = installedVersion(consumer, '@nestjs/core');
    for (const version of chosen(versions, (one) => one)) {
      all.push(...cellsOf(consumer, `Nest ${nest}`, version));
    }
  }
  return all;
}

/**
 * Those that were asked for; all if none was.
 *
 * @template T
 * @param {readonly T[]} every
 * @param {(one: T) => string} word
 * @returns {readonly T[]}
 */
function chosen(every, word) {
  const some = every.filter((one) => asked.includes(word(one)));
  return some.length > 0 ? some : every;
}

/**
 * @param {string} consumer
 * @param {string} nest
 * @param {string} version
 * @returns {Cell[]}
 */
function cellsOf(consumer, nest, version) {
  const possible = resolutions.filter((resolution) => canLoad(nest, version, resolution));
  return possible.map((resolution) => ({
    name: `${nest}, TypeScript ${version}, ${resolution}`,
    run: async () => {
      const folder = join(cache, `typescript-${version}`);
      await installInto(folder, { dependencies: { typescript: version } });
      const found = installedVersion(folder, 'typescript');
      const compiler = join(folder, 'node_modules', 'typescript', 'bin', 'tsc');
      const project = writeProject(consumer, resolution);
      const { code, output } = await runQuietly([process.execPath, compiler, '-p', project], {
        cwd: consumer,
      });
      const errors = output.split('\n').filter(isOurs);
      const crashed = code !== 0 && !output.includes('error TS');
      const passed = errors.length === 0 && !crashed;
      return { passed, output, summary: `${errors.length} errors (${found})` };
    },
  }));
}

/**
 * Whether a CommonJS application can import Nest. Version 12 is made of ES modules, which TypeScript lets it require
 * with `nodenext` from 5.8 on, and never with `node16`.
 *
 * @param {string} nest
 * @param {string} version
 * @param {(typeof resolutions)[number]} resolution
 */
function canLoad(nest, version, resolution) {
  if (!nest.startsWith('Nest 12') || resolution === 'bundler') return true;
  return resolution === 'nodenext' && version !== '5.4';
}

/**
 * Whether a line is an error in the application or in this package's declarations. Those of other packages do not
 * all stand `exactOptionalPropertyTypes`.
 *
 * @param {string} line
 * @returns {boolean}
 */
function isOurs(line) {
  return line.includes('error TS') && !/^node_modules\/(?!nestjs-settle\/)/.test(line);
}
