// @ts-check
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installInto } from './installed-folder.mjs';
import { installedVersion } from './installed-version.mjs';
import { onNest12 } from './nest-12.mjs';
import { runQuietly } from './run-quietly.mjs';

/** What an application has beside this package, at the versions of this repository. */
const beside = [
  '@golevelup/nestjs-rabbitmq',
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/platform-express',
  '@nestjs/terminus',
  '@nestjs/testing',
  '@nestjs-cls/transactional',
  '@opentelemetry/api',
  '@opentelemetry/exporter-prometheus',
  '@opentelemetry/sdk-metrics',
  '@opentelemetry/sdk-trace-node',
  '@types/node',
  'arktype',
  'class-transformer',
  'class-validator',
  'nestjs-cls',
  'reflect-metadata',
  'rxjs',
  'valibot',
  'vitest',
  'zod',
];

/** How strict an application can be. */
const strict = {
  target: 'es2022',
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  noUnusedParameters: true,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  isolatedModules: true,
  types: ['node'],
  declaration: true,
  emitDeclarationOnly: true,
};

/**
 * Makes an application in a folder: Nest of a major version, this package installed from its tarball, and as its code
 * the sample and the files of `test/types`, with the package's own name in their imports.
 *
 * @param {string} root
 * @param {string} folder
 * @param {'11' | '12'} nest
 * @returns {Promise<void>}
 */
export async function makeConsumer(root, folder, nest) {
  const versions = beside.map((name) => [name, installedVersion(root, name)]);
  const manifest = { dependencies: Object.fromEntries(versions) };
  await installInto(folder, nest === '12' ? onNest12(manifest) : manifest);
  await installTarball(root, folder);
  const types = join(folder, 'test', 'types');
  for (const name of ['sample-app', 'test']) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  cpSync(join(root, 'sample-app'), join(folder, 'sample-app'), { recursive: true });
  mkdirSync(types, { recursive: true });
  for (const name of readdirSync(join(root, 'test', 'types'))) {
    const text = readFileSync(join(root, 'test', 'types', name), 'utf8').replace(
      /from '\.\.\/\.\.\/lib/g,
      "from 'nestjs-settle",
    );
    // arktype is an ES module alone, which CommonJS can't import under node16.
    if (!text.includes("from 'arktype'")) writeFileSync(join(types, name), text);
    // The same as an ES module.
    if (!text.includes("from '.")) writeFileSync(join(types, name.replace(/ts$/, 'mts')), text);
  }
}

/**
 * Writes a project that compiles the application under one way of resolving modules, and gives its file.
 *
 * @param {string} folder
 * @param {'node16' | 'nodenext' | 'bundler'} moduleResolution
 * @returns {string}
 */
export function writeProject(folder, moduleResolution) {
  const module = moduleResolution === 'bundler' ? 'esnext' : moduleResolution;
  const outDir = join('declarations', moduleResolution);
  const compilerOptions = { ...strict, module, moduleResolution, rootDir: '.', outDir };
  const file = join(folder, `tsconfig.${moduleResolution}.json`);
  writeFileSync(file, JSON.stringify({ compilerOptions, include: ['sample-app', 'test/types'] }));
  return file;
}

/**
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<void>}
 */
async function installTarball(root, folder) {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.tgz')) rmSync(join(folder, name));
  }
  await npm(['pack', '--pack-destination', folder], root);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  rmSync(join(folder, 'node_modules', 'nestjs-settle'), { recursive: true, force: true });
  const options = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline'];
  await npm(['install', ...options, join(folder, tarball)], folder);
}

/**
 * @param {readonly string[]} parameters
 * @param {string} cwd
 * @returns {Promise<void>}
 */
async function npm(parameters, cwd) {
  const { code, output } = await runQuietly(['npm', ...parameters], { cwd });
  if (code !== 0) throw new Error(`npm ${parameters.join(' ')}: ${output}`);
}
