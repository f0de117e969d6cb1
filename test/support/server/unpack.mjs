// @ts-check
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findDebianMirror } from './apt-mirror.mjs';
import { findExecutable, run } from './commands.mjs';
import { installPackage } from './install.mjs';
import { suiteOf } from './releases.mjs';

/** @typedef {import('./node-files.mjs').Installation} Installation */
/** @typedef {import('./releases.mjs').Release} Release */

const script = fileURLToPath(new URL('unpack.sh', import.meta.url));
const usualCache = fileURLToPath(new URL('../../../.cache/rabbitmq', import.meta.url));
const packages = 'usr/lib/rabbitmq/lib';
const timeout = 1_800_000;

const steps = { missingPackages, installPackage, findDebianMirror, run };

/**
 * The folder that unpacked releases are kept in: the one that `RABBITMQ_TEST_CACHE` names, or `.cache/rabbitmq` of
 * this repository.
 *
 * @returns {string}
 */
export function cacheFolder() {
  return resolve(process.env.RABBITMQ_TEST_CACHE || usualCache);
}

/**
 * An installation of a release in a folder of its own: the one in the cache, or else a Debian release unpacked there
 * with its rabbitmq-server. Needs `canInstall`. Its commands run with that folder as `/` and with a /proc that only
 * they see.
 *
 * @param {Release} release
 * @param {(line: string) => void} log
 * @param {Partial<typeof steps>} [otherSteps] stand in for what changes the machine
 * @returns {Promise<Installation>}
 */
export async function unpackRelease(release, log, otherSteps = {}) {
  const folder = join(cacheFolder(), release);
  if (!existsSync(folder)) {
    await unpack(release, folder, log, { ...steps, ...otherSteps });
  }
  const name = readdirSync(join(folder, packages)).find((entry) =>
    entry.startsWith('rabbitmq_server-'),
  );
  if (name === undefined) {
    throw new Error(`${folder} holds no RabbitMQ; remove it, and it is made again`);
  }
  return {
    scripts: join('/', packages, name, 'sbin'),
    commandPrefix: ['unshare', '--mount', `--root=${folder}`, '--mount-proc'],
    root: folder,
  };
}

/**
 * @param {Release} release
 * @param {string} folder
 * @param {(line: string) => void} log
 * @param {typeof steps} look
 * @returns {Promise<void>}
 */
async function unpack(release, folder, log, look) {
  for (const name of look.missingPackages()) {
    log(`installing the package ${name} with apt-get`);
    await look.installPackage(name);
  }
  const suite = suiteOf(release);
  log(`unpacking RabbitMQ ${release} of Debian ${suite} into ${folder}; this is done once`);
  mkdirSync(cacheFolder(), { recursive: true });
  const mirror = await look.findDebianMirror();
  const parameters = [release, suite, folder, ...(mirror === undefined ? [] : [mirror])];
  await look.run(['unshare', '--mount', 'sh', script, ...parameters], {
    timeout,
    name: `unpacking RabbitMQ ${release}`,
  });
}

/**
 * The packages that unpacking needs and that are not installed.
 *
 * @returns {string[]}
 */
function missingPackages() {
  const missing = [];
  if (findExecutable('debootstrap', ['/usr/sbin']) === undefined) {
    missing.push('debootstrap');
  }
  if (!existsSync('/usr/share/keyrings/debian-archive-keyring.gpg')) {
    missing.push('debian-archive-keyring');
  }
  return missing;
}
