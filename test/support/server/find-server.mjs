// @ts-check
import { dockerAnswers, dockerImageOf } from './docker.mjs';
import { canInstall, installPackage } from './install.mjs';
import { findInstalledScripts, versionOfScripts } from './installed.mjs';
import { familyOf } from './node-files.mjs';
import { managementFrom, requireRelease, serverAt, start } from './rabbit-server.mjs';
import { isOf, releaseNamed } from './releases.mjs';
import { cacheFolder, unpackRelease } from './unpack.mjs';

/** @typedef {import('./rabbit-server.mjs').RabbitServer} RabbitServer */
/** @typedef {import('./rabbit-server.mjs').ServerDescription} ServerDescription */
/** @typedef {import('./node-files.mjs').Family} Family */
/** @typedef {import('./node-files.mjs').Installation} Installation */
/** @typedef {import('./kept-server.mjs').KeptServer} KeptServer */
/** @typedef {import('./releases.mjs').Release} Release */
/** @typedef {(line: string) => void} Log */

export { managementFrom };

const whatToDo =
  'no RabbitMQ server: install rabbitmq-server (Debian, Ubuntu: apt-get install rabbitmq-server; macOS: ' +
  'brew install rabbitmq), or start Docker, or set RABBITMQ_URL to one that runs';

const steps = {
  findInstalledScripts,
  versionOfScripts,
  dockerAnswers,
  canInstall,
  installPackage,
  unpackRelease,
};

/** @typedef {typeof steps} Steps */

/**
 * Finds a RabbitMQ server for tests, or starts one: the one that `RABBITMQ_URL` names, a private node of the
 * installed package, a Docker container, or a private node of the package after installing it. Rejects with one
 * line that tells what to install when there is none of these.
 *
 * With a version, `4.3` for example, only a server of that release will do, which on Debian and Ubuntu root can have
 * unpacked. The version is read from the server: one of another release is ended again, and the call rejects.
 *
 * @param {{ log?: Log, version?: string | undefined }} [options] the version is `RABBITMQ_TEST_VERSION` when absent
 * @param {Partial<Steps>} [otherSteps] stand in for what looks at the machine
 * @returns {Promise<RabbitServer>}
 */
export async function findServer(
  { log = () => {}, version = process.env.RABBITMQ_TEST_VERSION } = {},
  otherSteps = {},
) {
  const given = process.env.RABBITMQ_URL;
  const look = { ...steps, ...otherSteps };
  if (!version) {
    return given ? serverAt(given) : startUsual(look, log);
  }
  const release = releaseNamed(version);
  const server = await (given ? serverAt(given) : startRelease(release, look, log));
  return requireRelease(server, release);
}

/**
 * Starts a private node of the same release beside one that `findServer` has started, with the same cookie and epmd, so
 * that it can join the other one's cluster.
 *
 * @param {RabbitServer} server
 * @param {{ log?: Log, version?: string | undefined }} [options] as those of `findServer`
 * @param {Partial<Steps>} [otherSteps]
 * @returns {Promise<RabbitServer>}
 */
export async function startNodeBeside(
  { management },
  { log = () => {}, version = process.env.RABBITMQ_TEST_VERSION } = {},
  otherSteps = {},
) {
  const look = { ...steps, ...otherSteps };
  const scripts = look.findInstalledScripts();
  /** @type {KeptServer} */
  const usual = { kind: 'private node', installation: { scripts: scripts ?? '' } };
  const kept = version ? await locateRelease(releaseNamed(version), look, log) : usual;
  if (management === undefined || kept.kind !== 'private node') {
    throw new Error('only private nodes form clusters: neither RABBITMQ_URL nor Docker will do');
  }
  return startPrivateNode(kept.installation, log, familyOf(management.describe()));
}

/**
 * Sees to it that servers of these releases can be found without delay: what has to be unpacked for one is unpacked
 * now. Rejects, with what `findServer` would say, where one of them is not to be had.
 *
 * @param {readonly Release[]} releases
 * @param {{ log?: Log }} [options]
 * @param {Partial<Steps>} [otherSteps]
 * @returns {Promise<void>}
 */
export async function prepareReleases(releases, { log = () => {} } = {}, otherSteps = {}) {
  if (process.env.RABBITMQ_URL) {
    return;
  }
  for (const release of releases) {
    await locateRelease(release, { ...steps, ...otherSteps }, log);
  }
}

/**
 * @param {Steps} look
 * @param {Log} log
 * @returns {Promise<RabbitServer>}
 */
async function startUsual(look, log) {
  const scripts = look.findInstalledScripts();
  if (scripts !== undefined) {
    return startPrivateNode({ scripts }, log);
  }
  if (await look.dockerAnswers()) {
    try {
      return await startDocker(dockerImageOf(), log);
    } catch (error) {
      if (!look.canInstall()) {
        throw error;
      }
      log(`Docker did not start it: ${messageOf(error)}`);
    }
  }
  if (!look.canInstall()) {
    throw new Error(whatToDo);
  }
  log('installing the package rabbitmq-server with apt-get');
  await look.installPackage('rabbitmq-server');
  const installed = look.findInstalledScripts();
  if (installed === undefined) {
    throw new Error(
      'rabbitmq-server is installed, but its scripts are not where they are expected',
    );
  }
  return start({ kind: 'private node', installation: { scripts: installed } });
}

/**
 * @param {Release} release
 * @param {Steps} look
 * @param {Log} log
 * @returns {Promise<RabbitServer>}
 */
async function startRelease(release, look, log) {
  const found = await locateRelease(release, look, log);
  return found.kind === 'docker'
    ? startDocker(found.image, log)
    : startPrivateNode(found.installation, log);
}

/**
 * What a server of a release is started from; it is unpacked where that is how it is had.
 *
 * @param {Release} release
 * @param {Steps} look
 * @param {Log} log
 * @returns {Promise<KeptServer>}
 */
async function locateRelease(release, look, log) {
  const scripts = look.findInstalledScripts();
  if (scripts !== undefined && isOf(look.versionOfScripts(scripts), release)) {
    return { kind: 'private node', installation: { scripts } };
  }
  if (look.canInstall()) {
    try {
      return { kind: 'private node', installation: await look.unpackRelease(release, log) };
    } catch (error) {
      if (!(await look.dockerAnswers())) {
        throw error;
      }
      log(messageOf(error));
    }
  } else if (!(await look.dockerAnswers())) {
    throw new Error(
      `no RabbitMQ ${release}: start Docker, or be root on Debian or Ubuntu, where it is unpacked into ` +
        `${cacheFolder()}, or set RABBITMQ_URL to one that runs`,
    );
  }
  return { kind: 'docker', image: dockerImageOf(release) };
}

/**
 * @param {Installation} installation
 * @param {Log} log
 * @param {Family} [family]
 * @returns {Promise<RabbitServer>}
 */
function startPrivateNode(installation, log, family) {
  log(`starting a private RabbitMQ node from ${installation.root ?? installation.scripts}`);
  return start({ kind: 'private node', installation, ...(family && { family }) });
}

/**
 * @param {string} image
 * @param {Log} log
 * @returns {Promise<RabbitServer>}
 */
function startDocker(image, log) {
  log(`starting ${image} in Docker`);
  return start({ kind: 'docker', image });
}

/**
 * @param {unknown} error
 * @returns {string}
 */
function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}
