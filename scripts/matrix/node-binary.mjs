// @ts-check
import { join } from 'node:path';
import { installInto } from './installed-folder.mjs';
import { runQuietly } from './run-quietly.mjs';

/**
 * The folder of the newest `node` of a major version and its exact version. It comes out of the package that npm's
 * `node` takes for this system, and is kept in a folder of the cache.
 *
 * @param {string} cache
 * @param {number} major
 * @returns {Promise<{ folder: string, version: string }>}
 */
export async function nodeBinary(cache, major) {
  const name = packageName(process.platform, process.arch);
  const home = join(cache, String(major));
  await installInto(home, { dependencies: { [name]: String(major) } });
  const folder = join(home, 'node_modules', name, 'bin');
  const { code, output } = await runQuietly([join(folder, 'node'), '--version'], { cwd: home });
  const version = output.trim().replace(/^v/, '');
  if (code !== 0 || !version.startsWith(`${major}.`)) {
    throw new Error(`expected Node ${major} from ${name}; found: ${output.trim()}`);
  }
  return { folder, version };
}

/**
 * @param {string} platform
 * @param {string} arch
 * @returns {string}
 */
function packageName(platform, arch) {
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return [prefix, platform, arch].join('-');
}
