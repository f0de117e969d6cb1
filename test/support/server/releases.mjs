// @ts-check

/**
 * A release of RabbitMQ that tests can ask for.
 *
 * @typedef {'3.10' | '4.0' | '4.3'} Release
 */

/**
 * The Debian release that each of them is a part of.
 *
 * @type {ReadonlyMap<Release, string>}
 */
const suites = new Map([
  ['3.10', 'bookworm'],
  ['4.0', 'trixie'],
  ['4.3', 'forky'],
]);

/** The releases that tests can ask for, oldest first. */
export const releases = [...suites.keys()];

/**
 * The Debian release whose rabbitmq-server is of this release.
 *
 * @param {Release} release
 * @returns {string}
 */
export function suiteOf(release) {
  return suites.get(release) ?? '';
}

/**
 * The release that a word names. Throws where it names none.
 *
 * @param {string} word
 * @returns {Release}
 */
export function releaseNamed(word) {
  const release = releases.find((known) => known === word);
  if (release === undefined) {
    throw new Error(`tests know RabbitMQ ${releases.join(', ')}, not "${word}"`);
  }
  return release;
}

/**
 * Whether a server of this version is of that release: 4.3.6 is of 4.3, 4.30.0 is not.
 *
 * @param {string | undefined} version
 * @param {Release} release
 * @returns {boolean}
 */
export function isOf(version, release) {
  return version?.startsWith(`${release}.`) ?? false;
}

/**
 * Takes `--rabbitmq=` and the releases it names, with commas between them or said again, out of a command line.
 *
 * @param {readonly string[]} words
 * @returns {{ asked: Release[], rest: string[] }}
 */
export function takeReleases(words) {
  const option = '--rabbitmq';
  if (words.includes(option)) {
    throw new Error(`${option} needs a release: ${option}=${releases.join(',')}`);
  }
  const taken = words.filter((word) => word.startsWith(`${option}=`));
  const named = taken.flatMap((word) => word.slice(option.length + 1).split(','));
  return {
    asked: [...new Set(named.map(releaseNamed))],
    rest: words.filter((word) => !taken.includes(word)),
  };
}
