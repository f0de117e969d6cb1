// @ts-check
/**
 * `node run-integration.mjs [--rabbitmq=4.0,4.3] [parameters of vitest...]` runs the integration tests on a server of
 * each of these releases in turn, or on the usual server.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { passSignalsOn, runInForeground, wasInterrupted } from './foreground.mjs';
import { takeReleases } from './releases.mjs';
import { runOnReleases } from './run-on-releases.mjs';
import { countTestsIn } from './test-report.mjs';

/** @typedef {import('./rabbit-server.mjs').RabbitServer} RabbitServer */
/** @typedef {import('./releases.mjs').Release} Release */
/** @typedef {import('./run-on-releases.mjs').TestRun} TestRun */

const vitest = fileURLToPath(new URL('../../../node_modules/vitest/vitest.mjs', import.meta.url));

passSignalsOn();
try {
  const { asked, rest } = takeReleases(process.argv.slice(2));
  process.exitCode = await runOnReleases(asked, {
    runTests: (server, release) => runTests(server, release, rest),
    log: (line) => console.error(line),
  });
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

/**
 * @param {RabbitServer} server
 * @param {Release | undefined} release
 * @param {readonly string[]} parameters
 * @returns {Promise<TestRun>}
 */
async function runTests(server, release, parameters) {
  const folder = mkdtempSync(join(tmpdir(), 'integration-tests-'));
  const report = join(folder, 'report.json');
  const reporters = parameters.some((word) => word.startsWith('--reporter')) ? [] : ['default'];
  const words = [...reporters, 'json'].map((name) => `--reporter=${name}`);
  const run = [vitest, 'run', '--project', 'integration', ...words, `--outputFile.json=${report}`];
  try {
    const code = await runInForeground([process.execPath, ...run, ...parameters], {
      ...process.env,
      RABBITMQ_TEST_SERVER: JSON.stringify(server.describe()),
      ...(release && { RABBITMQ_TEST_VERSION: release }),
    });
    return { code, counts: countTestsIn(report), interrupted: wasInterrupted() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
