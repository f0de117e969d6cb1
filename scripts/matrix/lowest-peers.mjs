// @ts-check
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { installInto } from './installed-folder.mjs';
import { installedVersion } from './installed-version.mjs';

/** What the tests need beside the peers, at the versions of this repository. */
const besidePeers = [
  '@swc/core',
  '@types/amqplib',
  '@types/node',
  'amqplib',
  'class-transformer',
  'class-validator',
  'fast-check',
  'typescript',
  'unplugin-swc',
  'vitest',
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
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const peers = lowestVersions(manifest.peerDependencies);
  const nest = peers['@nestjs/core'] ?? '';
  await installInto(folder, {
    dependencies: {
      ...peers,
      '@nestjs/platform-express': nest,
      ...Object.fromEntries(besidePeers.map((name) => [name, installedVersion(root, name)])),
    },
    overrides: manifest.overrides,
  });
  for (const name of Object.keys(peers)) {
    const version = installedVersion(folder, name);
    if (version !== peers[name]) throw new Error(`expected ${name} ${peers[name]}; got ${version}`);
  }
  for (const name of readdirSync(root)) {
    if (name.startsWith('.') || left.includes(name)) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
    const filter = (/** @type {string} */ path) => basename(path) !== 'node_modules';
    cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  }
  const golevelup = peers['@golevelup/nestjs-rabbitmq'];
  return { folder, versions: `Nest ${nest}, golevelup ${golevelup}, rxjs ${peers['rxjs']}` };
}

/**
 * @param {Record<string, string>} ranges
 * @returns {Record<string, string>}
 */
function lowestVersions(ranges) {
  return Object.fromEntries(
    Object.entries(ranges).map(([name, range]) => {
      const [, version] = /^\^(\d+\.\d+\.\d+)$/.exec(range) ?? [];
      if (version === undefined) throw new Error(`no lowest version in ${name} ${range}`);
      return [name, version];
    }),
  );
}
