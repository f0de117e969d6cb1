// @ts-check
import { readFileSync } from 'node:fs';
import { run } from './commands.mjs';

const rolling = ['oldstable', 'stable', 'testing', 'unstable', 'sid'];

/**
 * The mirror of Debian from which this machine has its own packages, as apt's sources tell it. Undefined where they
 * tell none that others can read as well, as on Ubuntu.
 *
 * @returns {Promise<string | undefined>}
 */
export async function findDebianMirror() {
  const release = readFileSync('/etc/os-release', 'utf8');
  if (!/^ID=debian$/m.test(release)) {
    return undefined;
  }
  const format = '$(RELEASE) $(COMPONENT) $(REPO_URI) $(ORIGIN)';
  const targets = await run([
    'apt-get',
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
  ]);
  return mirrorAmong(targets, release.match(/^VERSION_CODENAME=(.*)$/m)?.[1]);
}

/**
 * Among apt's sources, one a line with its release, component, address and origin, the address of the machine's
 * main one. The origin is missing as long as apt has not been updated.
 *
 * @param {string} targets
 * @param {string | undefined} codename
 * @returns {string | undefined}
 */
export function mirrorAmong(targets, codename) {
  const candidates = targets
    .split('\n')
    .map((line) => line.split(' '))
    .filter(
      ([release = '', component, address = '']) =>
        [codename, ...rolling].includes(release) &&
        component === 'main' &&
        /^https?:/.test(address),
    );
  const best =
    candidates.find(([, , , origin]) => origin === 'Debian') ??
    candidates.find(([, , address = '']) => /\/debian\/?$/.test(address));
  return best?.[2];
}
