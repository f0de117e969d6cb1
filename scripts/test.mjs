// @ts-check
/**
 * Runs all tests, those without a server first, and ends with one line for all runs: `N passed, N failed`, and
 * `, N skipped` where tests were skipped. Further parameters go to Vitest.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';

const projects = ['unit', 'examples', 'integration'];
const folder = mkdtempSync(join(tmpdir(), 'nestjs-settle-test-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));

/** @type {import('node:child_process').ChildProcess | undefined} */
let vitest;
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, async () => {
    vitest?.kill(signal);
    await ended(vitest);
    process.exit(128 + constants.signals[signal]);
  });
}

const sum = { passed: 0, failed: 0, skipped: 0 };
for (const project of projects) {
  const { passed, failed, skipped } = await runProject(project);
  sum.passed += passed;
  sum.failed += failed;
  sum.skipped += skipped;
}
process.exitCode = sum.failed > 0 ? 1 : 0;
const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
console.log(`${sum.passed} passed, ${sum.failed} failed${skipped}`);

/**
 * @param {string} project
 * @returns {Promise<{ passed: number, failed: number, skipped: number }>}
 */
async function runProject(project) {
  const file = join(folder, `${project}.json`);
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const parameters = ['run', '--project', project, ...reporters, ...process.argv.slice(2)];
  vitest = spawn('vitest', parameters, { stdio: 'inherit' });
  const code = await ended(vitest);
  const result = resultIn(file);
  const failed = result?.numFailedTests ?? 0;
  return {
    passed: result?.numPassedTests ?? 0,
    // A file that does not load, or an error outside of any test, fails a run without a failed test.
    failed: code === 0 ? failed : Math.max(1, failed),
    skipped: (result?.numPendingTests ?? 0) + (result?.numTodoTests ?? 0),
  };
}

/**
 * @param {string} file
 * @returns {Record<'numPassedTests' | 'numFailedTests' | 'numPendingTests' | 'numTodoTests', number> | undefined}
 */
function resultIn(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined; // The run has ended before it could write.
  }
}

/**
 * Resolves with the exit code, `null` where the process was killed or could not be started.
 *
 * @param {import('node:child_process').ChildProcess | undefined} child
 * @returns {Promise<number | null>}
 */
function ended(child) {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve(child?.exitCode ?? null);
  }
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
}
