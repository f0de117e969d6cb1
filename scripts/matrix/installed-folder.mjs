// @ts-check
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runQuietly } from './run-quietly.mjs';

/**
 * @typedef {object} Manifest
 * @property {Record<string, string>} dependencies
 * @property {Record<string, unknown>} [overrides]
 */

/**
 * Makes a folder with these packages installed, by npm and without their scripts. What is there already is kept, if
 * the same was asked for: for newer patches remove the folder.
 *
 * @param {string} folder
 * @param {Manifest} manifest
 * @returns {Promise<void>}
 */
export async function installInto(folder, manifest) {
  const text = JSON.stringify({ private: true, ...manifest }, undefined, 2);
  const done = join(folder, '.installed.json');
  if (contentOf(done) === text) return;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), text);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  const { code, output } = await runQuietly(['npm', 'install', ...options], { cwd: folder });
  if (code !== 0) {
    const [reason = `npm ended with code ${code}`] = output.match(/^npm error (?!code).*$/m) ?? [];
    throw new Error(`${Object.entries(manifest.dependencies)[0]?.join('@')}: ${reason}`);
  }
  writeFileSync(done, text);
}

/**
 * @param {string} file
 * @returns {string | undefined}
 */
function contentOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
