// @ts-check
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { installInto } from './installed-folder.mjs';
import { installedVersion } from './installed-version.mjs';
import { onNest12 } from './nest-12.mjs';

/** What the tests need beside the peers, at the versions of this repository. */
const besidePeers = [
  '@asyncapi/parser',
  '@swc/core',
  '@types/amqplib',
  '@types/node',
  'amqplib',
  'arktype',
  'commander',
  'fast-check',
  'typescript',
  'unplugin-swc',
  'valibot',
  'vitest',
  'zod',
];

/** What the copy has of its own, or does without. */
const left = ['coverage', 'dist', 'node_modules', 'package-lock.json', 'package.json'];

/**
 * Makes a copy of this repository that has the lowest version of every peer installed, and the lowest of Nest's
 * packages that only tests use. Gives its folder and the versions in words.
 *
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<{ folder: string, versions: string }>}
 */
export async function copyWithLowestPeers(root, folder) {
  const { peerDependencies, overrides } = manifestOf(root);
  const peers = lowestVersions(peerDependencies);
  const made = await copyWithPeers(root, folder, peers, overrides);
  for (const name of Object.keys(peers)) {
    const version = installedVersion(folder, name);
    if (version !== peers[name]) throw new Error(`expected ${name} ${peers[name]}; got ${version}`);
  }
  return made;
}

/**
 * Makes a copy of this repository that has Nest 12 installed. Gives its folder and the versions in words.
 *
 * @param {string} root
 * @param {string} folder
 * @returns {Promise<{ folder: string, versions: string }>}
 */
export function copyWithNest12(root, folder) {
  const { peerDependencies, overrides: given } = manifestOf(root);
  const peers = lowestVersions(peerDependencies);
  const { dependencies, overrides = {} } = onNest12({ dependencies: peers, overrides: given });
  return copyWithPeers(root, folder, dependencies, overrides);
}

/**
 * @param {string} root
 * @returns {{ peerDependencies: Record<string, string>, overrides: Record<string, unknown> }}
 */
function manifestOf(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {Record<string, string>} peers
 * @param {Record<string, unknown>} overrides
 * @returns {Promise<{ folder: string, versions: string }>}
 */
async function copyWithPeers(root, folder, peers, overrides) {
  await installInto(folder, {
    dependencies: {
      ...peers,
      '@nestjs/platform-express': peers['@nestjs/core'] ?? '',
      ...Object.fromEntries(besidePeers.map((name) => [name, installedVersion(root, name)])),
    },
    overrides,
  });
  for (const name of readdirSync(root)) {
    if (name.startsWith('.') || left.includes(name)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
    const filter = (/** @type {string} */ path) => basename(path) !== 'node_modules';
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  const found = ['@nestjs/core', '@golevelup/nestjs-rabbitmq', 'rxjs'].map((name) =>
    installedVersion(folder, name),
  );
  return { folder, versions: `Nest ${found[0]}, golevelup ${found[1]}, rxjs ${found[2]}` };
}

/**
 * @param {Record<string, string>} ranges
 * @returns {Record<string, string>}
 */
function lowestVersions(ranges) {
  return Object.fromEntries(
    Object.entries(ranges).map(([name, range]) => {
      const [, version] = /^\^(\d+\.\d+\.\d+)( \|\| \^[\d.]+)*$/.exec(range) ?? [];
      if (version === undefined) throw new Error(`no lowest version in ${name} ${range}`);
      return [name, version];
    }),
  );
}
