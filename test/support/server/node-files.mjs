// @ts-check
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findFreePorts } from './ports.mjs';

/**
 * Where the commands of an installation run.
 *
 * @typedef {object} Installation
 * @property {string} scripts the folder of `rabbitmq-server` and `rabbitmqctl`, as those commands see it
 * @property {string[]} [commandPrefix] what stands before every command, `['chroot', folder]` for example
 * @property {string} [root] the folder that those commands see as `/`; `/` when absent
 */

/**
 * What nodes share that are to form a cluster; plain JSON.
 *
 * @typedef {object} Family
 * @property {string} cookie
 * @property {number} epmdPort of the epmd that the first of them has started
 */

/**
 * The files, ports and environment of one private node.
 *
 * @typedef {object} NodeFiles
 * @property {string} folder everything of the node, removed with it
 * @property {string} log all that the node writes; its own log file would lag behind by seconds
 * @property {number} amqpPort
 * @property {number} managementPort
 * @property {number} epmdPort
 * @property {Record<string, string>} environment the whole environment of the node's commands
 */

export const memoryLimit = '1GB';

export const commonSettings = `heartbeat = 60
collect_statistics_interval = 200
vm_memory_high_watermark.absolute = ${memoryLimit}
disk_free_limit.absolute = 1MB
raft.wal_max_size_bytes = 67108864
`;

const samples =
  '{sample_retention_policies, [{global, [{60, 1}]}, {basic, [{60, 1}]}, {detailed, [{60, 1}]}]}';

/** Settings that have no name in `rabbitmq.conf`. The management plugin takes its samples every second. */
export const advancedSettings = `[
  {rabbit, [{quorum_tick_interval, 200}]},
  {rabbitmq_management, [{management_db_cache_multiplier, 0}, ${samples}]},
  {rabbitmq_management_agent, [${samples}]}
].
`;

export const enabledPlugins = '[rabbitmq_management].\n';

const kept = ['PATH', 'TMPDIR', 'TZ', 'LC_ALL', 'LANG'];

/**
 * Makes the folder of a new node with its configuration in it, and picks free ports for it.
 *
 * @param {Installation} installation
 * @param {string} temporaryFolder where the folder is made, as the node's commands see it
 * @param {Family} [family] of a node that it is to form a cluster with
 * @returns {Promise<NodeFiles>}
 */
export async function makeNodeFiles({ root = '/' }, temporaryFolder, family) {
  const [amqpPort = 0, managementPort = 0, distributionPort = 0, freePort = 0] =
    await findFreePorts(4);
  const epmdPort = family?.epmdPort ?? freePort;
  const folder = mkdtempSync(join(root, temporaryFolder, 'rabbitmq-for-tests-'));
  const inside = join(temporaryFolder, folder.slice(folder.lastIndexOf('/') + 1));
  for (const name of ['home', 'log', 'data', 'more-configuration']) {
    mkdirSync(join(folder, name));
  }
  const cookie = cookieFile(folder);
  writeFileSync(cookie, family?.cookie ?? randomBytes(16).toString('hex'));
  chmodSync(cookie, 0o400);
  writeFileSync(join(folder, 'rabbitmq.conf'), brokerSettings(amqpPort, managementPort));
  writeFileSync(join(folder, 'advanced.config'), advancedSettings);
  writeFileSync(join(folder, 'enabled_plugins'), enabledPlugins);
  writeFileSync(join(folder, 'environment.conf'), '');
  return {
    folder,
    log: join(folder, 'log', 'node.log'),
    amqpPort,
    managementPort,
    epmdPort,
    environment: {
      ...keptEnvironment(),
      HOME: join(inside, 'home'),
      // The start script becomes the node instead of watching over it: one process to signal.
      RUNNING_UNDER_SYSTEMD: 'true',
      ERL_EPMD_PORT: String(epmdPort),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      RABBITMQ_NODENAME: `tests-${amqpPort}@localhost`,
      RABBITMQ_DIST_PORT: String(distributionPort),
      RABBITMQ_CONF_ENV_FILE: join(inside, 'environment.conf'),
      RABBITMQ_CONFIG_FILE: join(inside, 'rabbitmq.conf'),
      RABBITMQ_CONFIG_FILES: join(inside, 'more-configuration'),
      RABBITMQ_ADVANCED_CONFIG_FILE: join(inside, 'advanced.config'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(inside, 'enabled_plugins'),
      RABBITMQ_MNESIA_BASE: join(inside, 'data'),
      RABBITMQ_LOG_BASE: join(inside, 'log'),
      RABBITMQ_LOGS: '-',
      ERL_AFLAGS: '-start_epmd false -kernel inet_dist_use_interface {127,0,0,1}',
      ERL_CRASH_DUMP: join(inside, 'log', 'crash.dump'),
    },
  };
}

/**
 * What another node needs to form a cluster with a private node.
 *
 * @param {import('./management.mjs').ManagementDescription} management of the private node
 * @returns {Family}
 */
export function familyOf({ logPath, ctl }) {
  if (logPath === undefined || ctl?.environment === undefined) {
    throw new Error('only private nodes of these tests form clusters');
  }
  const cookie = readFileSync(cookieFile(dirname(dirname(logPath))), 'utf8');
  return { cookie, epmdPort: Number(ctl.environment.ERL_EPMD_PORT) };
}

/**
 * @param {string} folder of a node
 * @returns {string}
 */
function cookieFile(folder) {
  return join(folder, 'home', '.erlang.cookie');
}

/**
 * @param {number} amqpPort
 * @param {number} managementPort
 * @returns {string}
 */
function brokerSettings(amqpPort, managementPort) {
  return `listeners.tcp.1 = 127.0.0.1:${amqpPort}
management.tcp.ip = 127.0.0.1
management.tcp.port = ${managementPort}
log.console.level = info
${commonSettings}`;
}

/**
 * @returns {Record<string, string>}
 */
function keptEnvironment() {
  /** @type {Record<string, string>} */
  const environment = { LANG: 'C.UTF-8' };
  for (const name of kept) {
    const value = process.env[name];
    if (value !== undefined) {
      environment[name] = value;
    }
  }
  return environment;
}
