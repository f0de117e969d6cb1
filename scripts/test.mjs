// @ts-check
/**
 * `node test.mjs [--rabbitmq=3.10,4.3] [parameters of vitest...]` runs all tests, those without a server first, and
 * ends with one line for all runs: `N passed, N failed`, and `, N skipped` where tests were skipped. Those with a
 * server run on the usual one, or on one of each of these releases, side by side: they wait more than they compute.
 * Those with services under faults run on the last of these releases, in their short form.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { prepareReleases } from '../test/support/server/find-server.mjs';
import { takeReleases } from '../test/support/server/releases.mjs';
import { countRun } from '../test/support/server/test-report.mjs';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {import('../test/support/server/releases.mjs').Release} Release */
/** @typedef {ReturnType<typeof countRun>} Counts */

const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-test-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** @type {Set<ChildProcess>} */
const running = new Set();
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, async () => {
    const ends = [...running].map((vitest) => {
      vitest.kill(signal);
      return ended(vitest);
    });
    await Promise.all(ends);
    process.exit(128 + constants.signals[signal]);
  });
}

try {
  const { asked, rest } = takeReleases(process.argv.slice(2));
  await prepareReleases(asked, { log: (line) => console.error(line) });
  const counts = [
    await runProject('unit', rest),
    await runProject('support', rest),
    await runProject('memory', rest),
    await runProject('examples', rest),
    ...(asked.length === 0
      ? [await runProject('integration', rest)]
      : await Promise.all(asked.map((release) => runProject('integration', rest, release)))),
    // With faults on one release only, and when nothing else runs: they depend on time.
    await runProject('faults', rest, asked.at(-1)),
  ];
  const sum = (/** @type {keyof Counts} */ kind) =>
    counts.reduce((total, count) => total + count[kind], 0);
  process.exitCode = sum('failed') > 0 ? 1 : 0;
  const skipped = sum('skipped') > 0 ? `, ${sum('skipped')} skipped` : '';
  console.log(`${sum('passed')} passed, ${sum('failed')} failed${skipped}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * Runs the tests of a project; on a server of a release, each line it writes says which.
 *
 * @param {string} project
 * @param {readonly string[]} further
 * @param {Release} [release]
 * @returns {Promise<Counts>}
 */
async function runProject(project, further, release) {
  const file = join(folder, `${project}-${release ?? 'usual'}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const parameters = ['run', '--project', project, ...reporters, ...further];
  const vitest = spawn('vitest', parameters, {
    stdio: release === undefined ? 'inherit' : ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...(release && { RABBITMQ_TEST_VERSION: release }) },
  });
  running.add(vitest);
  for (const stream of [vitest.stdout, vitest.stderr]) {
    if (stream) {
      createInterface(stream).on('line', (line) => console.log(`[${release}] ${line}`));
    }
  }
  const code = await ended(vitest);
  running.delete(vitest);
  return countRun(code, file);
}

/**
 * Resolves with the exit code, `null` where the process was killed or could not be started.
 *
 * @param {ChildProcess} child
 * @returns {Promise<number | null>}
 */
function ended(child) {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child.exitCode);
  }
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
}
