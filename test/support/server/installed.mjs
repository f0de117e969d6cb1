// @ts-check
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findExecutable } from './commands.mjs';

const usualFolders = ['/usr/sbin', '/usr/local/sbin', '/opt/homebrew/sbin'];
const packageFolders = ['/usr/lib/rabbitmq/lib', '/usr/local/lib/rabbitmq/lib', '/opt'];

/**
 * The folder that holds the scripts `rabbitmq-server` and `rabbitmqctl` of the installed RabbitMQ, or undefined
 * when none is installed. On Debian the `rabbitmq-server` in PATH is a wrapper that switches the user; the folder
 * returned holds the scripts behind it.
 *
 * @returns {string | undefined}
 */
export function findInstalledScripts() {
  const server = findExecutable('rabbitmq-server', usualFolders);
  if (server !== undefined) {
    const beside = dirname(realpathSync(server));
    if (isScriptFolder(beside)) {
      return dirname(realpathSync(join(beside, 'rabbitmq-env')));
    }
  }
  return packageFolders.flatMap(scriptFoldersIn).find(isScriptFolder);
}

/**
 * The version of the RabbitMQ that these scripts belong to, told by the name of the broker among its plugins.
 *
 * @param {string} scripts
 * @returns {string | undefined}
 */
export function versionOfScripts(scripts) {
  const plugins = join(dirname(scripts), 'plugins');
  const names = existsSync(plugins) ? readdirSync(plugins) : [];
  return names.map((name) => name.match(/^rabbit-(\d+\.\d+\.\d+)/)?.[1]).find(Boolean);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function scriptFoldersIn(folder) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder)
    .filter((name) => name.startsWith('rabbitmq_server-'))
    .sort()
    .reverse()
    .map((name) => join(folder, name, 'sbin'));
}

/**
 * @param {string} folder
 * @returns {boolean}
 */
function isScriptFolder(folder) {
  return ['rabbitmq-server', 'rabbitmqctl', 'rabbitmq-env'].every((name) =>
    existsSync(join(folder, name)),
  );
}
