// @ts-check
/**
 * `node scripts/docs.mjs [--serve]` builds the site of the documentation into docs/.vitepress/dist: the API reference from
 * the doc comments, then the pages; a dead link fails the build. `--serve` shows it while it is edited.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const docs = join(root, 'docs');
const isServing = process.argv.includes('--serve');

if (!existsSync(join(docs, 'node_modules'))) run('npm', ['ci', '--no-audit', '--no-fund']);
rmSync(join(docs, 'api'), { recursive: true, force: true });
run(join(docs, 'node_modules/.bin/typedoc'), []);
run(join(docs, 'node_modules/.bin/vitepress'), [isServing ? 'dev' : 'build', '.']);

/**
 * Runs a command in the folder of the documentation; this process fails with it.
 *
 * @param {string} command
 * @param {string[]} parameters
 */
function run(command, parameters) {
  const { status } = spawnSync(command, parameters, { cwd: docs, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
