// @ts-check
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The version of a package that a folder has installed.
 *
 * @param {string} folder
 * @param {string} name
 * @returns {string}
 */
export function installedVersion(folder, name) {
  const file = join(folder, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(file, 'utf8')).version;
}
