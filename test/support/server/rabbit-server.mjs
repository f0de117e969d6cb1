// @ts-check
import { versionAt } from './amqp-version.mjs';
import { startKeptServer } from './kept-server.mjs';
import { Management } from './management.mjs';
import { isOf } from './releases.mjs';

/** @typedef {import('./kept-server.mjs').KeptServer} KeptServer */
/** @typedef {import('./management.mjs').ManagementDescription} ManagementDescription */
/** @typedef {import('./releases.mjs').Release} Release */

/**
 * A server for another process to use; plain JSON.
 *
 * @typedef {object} ServerDescription
 * @property {string} url
 * @property {'environment' | 'private node' | 'docker'} origin
 * @property {string | undefined} [version] undefined when the server could not be asked
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

const sources = {
  environment: 'RABBITMQ_URL',
  'private node': 'a package',
  docker: 'Docker',
};

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
 * The server, if it is of this release; else it is stopped, and the call rejects.
 *
 * @param {RabbitServer} server
 * @param {Release} release
 * @returns {Promise<RabbitServer>}
 */
export async function requireRelease(server, release) {
  if (isOf(server.version, release)) {
    return server;
  }
  await server.stop();
  const source = sources[server.origin];
  const version = server.version ?? 'of a version that it does not tell';
  throw new Error(`RabbitMQ ${release} was asked for, but the server from ${source} is ${version}`);
}

/**
 * The server at an address, with its management where `RABBITMQ_MANAGEMENT_URL` names it.
 *
 * @param {string} url
 * @returns {Promise<RabbitServer>}
 */
export async function serverAt(url) {
  const managementUrl = process.env.RABBITMQ_MANAGEMENT_URL;
  const management = managementUrl ? { url: withCredentialsOf(url, managementUrl) } : undefined;
  return makeServer({ url, origin: 'environment', management }, async () => {});
}

/**
 * Starts a server that ends with this process at the latest.
 *
 * @param {KeptServer} kept
 * @returns {Promise<RabbitServer>}
 */
export async function start(kept) {
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
  const version = await (management?.version() ?? versionAt(parts.url));
  const description = { ...parts, version };
  const { url, origin } = parts;
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
