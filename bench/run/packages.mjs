// @ts-check
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('..', import.meta.url));
const installed = new URL('../node_modules/.package-lock.json', import.meta.url);

/**
 * Installs the packages that only the measurements need, where they are missing.
 *
 * @param {(line: string) => void} log
 */
export function ensurePackages(log) {
  if (existsSync(installed)) return;
  log('installing the packages of bench/');
  const parameters = ['ci', '--prefix', folder, '--no-audit', '--no-fund'];
  execFileSync('npm', parameters, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
}
