// @ts-check
import { dockerAnswers, dockerImage } from './docker.mjs';
import { canInstall, installPackage } from './install.mjs';
import { findInstalledScripts } from './installed.mjs';
import { startKeptServer } from './kept-server.mjs';
import { Management } from './management.mjs';

/** @typedef {import('./kept-server.mjs').KeptServer} KeptServer */
/** @typedef {import('./management.mjs').ManagementDescription} ManagementDescription */
/** @typedef {(line: string) => void} Log */

/**
 * A server for another process to use; plain JSON.
 *
 * @typedef {object} ServerDescription
 * @property {string} url
 * @property {'environment' | 'private node' | 'docker'} origin
 * @property {string | undefined} [version]
 * @property {ManagementDescription | undefined} [management]
 */

/**
 * @typedef {object} RabbitServer
 * @property {string} url
 * @property {'environment' | 'private node' | 'docker'} origin
 * @property {string | undefined} [version]
 * @property {Management | undefined} [management]
 * @property {() => ServerDescription} describe
 * @property {() => Promise<void>} stop ends and removes the server if it was started here
 */

const whatToDo =
  'no RabbitMQ server: install rabbitmq-server (Debian, Ubuntu: apt-get install rabbitmq-server; macOS: ' +
  'brew install rabbitmq), or start Docker, or set RABBITMQ_URL to one that runs';

const steps = { findInstalledScripts, dockerAnswers, canInstall, installPackage };

/**
 * Finds a RabbitMQ server for tests, or starts one: the one that `RABBITMQ_URL` names, a private node of the
 * installed package, a Docker container, or a private node of the package after installing it. Rejects with one
 * line that tells what to install when there is none of these.
 *
 * @param {{ log?: Log }} [options]
 * @param {Partial<typeof steps>} [otherSteps] stand in for what looks at the machine
 * @returns {Promise<RabbitServer>}
 */
export async function findServer({ log = () => {} } = {}, otherSteps = {}) {
  const given = process.env.RABBITMQ_URL;
  if (given) {
    return serverAt(given, process.env.RABBITMQ_MANAGEMENT_URL);
  }
  const look = { ...steps, ...otherSteps };
  const scripts = look.findInstalledScripts();
  if (scripts !== undefined) {
    log(`starting a private RabbitMQ node from ${scripts}`);
    return start({ kind: 'private node', installation: { scripts } });
  }
  if (await look.dockerAnswers()) {
    log(`starting ${dockerImage} in Docker`);
    try {
      return await start({ kind: 'docker', image: dockerImage });
    } catch (error) {
      if (!look.canInstall()) {
        throw error;
      }
      log(`Docker did not start it: ${error instanceof Error ? error.message : error}`);
    }
  }
  if (!look.canInstall()) {
    throw new Error(whatToDo);
  }
  log('installing the package rabbitmq-server with apt-get');
  await look.installPackage();
  const installed = look.findInstalledScripts();
  if (installed === undefined) {
    throw new Error(
      'rabbitmq-server is installed, but its scripts are not where they are expected',
    );
  }
  return start({ kind: 'private node', installation: { scripts: installed } });
}

/**
 * The management of a server that another process found. Undefined when that server has none.
 *
 * @param {ServerDescription} description
 * @returns {Management | undefined}
 */
export function managementFrom({ management }) {
  return management === undefined ? undefined : new Management(management);
}

/**
 * @param {string} url
 * @param {string | undefined} managementUrl
 * @returns {Promise<RabbitServer>}
 */
async function serverAt(url, managementUrl) {
  const management = managementUrl ? { url: withCredentialsOf(url, managementUrl) } : undefined;
  return makeServer({ url, origin: 'environment', management }, async () => {});
}

/**
 * @param {KeptServer} kept
 * @returns {Promise<RabbitServer>}
 */
async function start(kept) {
  const { url, management, stop } = await startKeptServer(kept);
  try {
    return await makeServer({ url, origin: kept.kind, management }, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * @param {ServerDescription} parts all but the version
 * @param {() => Promise<void>} stop
 * @returns {Promise<RabbitServer>}
 */
async function makeServer(parts, stop) {
  const management = managementFrom(parts);
  const description = { ...parts, version: await management?.version() };
  const { url, origin, version } = description;
  return { url, origin, version, management, describe: () => description, stop };
}

/**
 * @param {string} url
 * @param {string} managementUrl
 * @returns {string}
 */
function withCredentialsOf(url, managementUrl) {
  const target = new URL(managementUrl);
  if (target.username === '') {
    const { username, password } = new URL(url);
    target.username = username || 'guest';
    target.password = password || 'guest';
  }
  return target.href;
}
