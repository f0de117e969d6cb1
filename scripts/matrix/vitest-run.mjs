// @ts-check
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { countRun } from '../../test/support/server/test-report.mjs';
import { runQuietly } from './run-quietly.mjs';

/**
 * @typedef {object} VitestRun
 * @property {string} root the folder that holds the tests and what they import
 * @property {string} nodeFolder the folder of the `node` that runs them
 * @property {readonly string[]} parameters
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * Runs Vitest on a certain Node, which is also the `node` of whatever the tests start.
 *
 * @param {VitestRun} run
 * @returns {Promise<{ passed: number, failed: number, skipped: number, output: string }>}
 */
export async function runVitest({ root, nodeFolder, parameters, env = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-node-'));
  const report = join(folder, 'report.json');
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const command = [join(nodeFolder, 'node'), vitest, 'run', ...parameters, ...reporters];
  try {
    const { code, output } = await runQuietly(command, {
      cwd: root,
      env: { ...process.env, ...env, PATH: `${nodeFolder}${delimiter}${process.env['PATH']}` },
    });
    return { ...countRun(code, report), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
