// @ts-check
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { countTests } from '../../test/support/server/test-report.mjs';
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
    const counts = countTests(readReport(report)) ?? { passed: 0, failed: 0, skipped: [] };
    // A file that does not load, or an error outside of any test, fails a run without a failed test.
    const failed = code === 0 ? counts.failed : Math.max(1, counts.failed);
    return { passed: counts.passed, failed, skipped: counts.skipped.length, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} file
 * @returns {string | undefined}
 */
function readReport(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
