// @ts-check
import { readFileSync } from 'node:fs';

/**
 * What the JSON report in a file says. Undefined where there is none: the run has ended before it could write.
 *
 * @param {string} file
 * @returns {ReturnType<typeof countTests>}
 */
export function countTestsIn(file) {
  try {
    return countTests(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/**
 * What a run of vitest came to: its exit code, and the report that it should have written.
 *
 * @param {number | null} code
 * @param {string} file
 * @returns {{ passed: number, failed: number, skipped: number }}
 */
export function countRun(code, file) {
  const { passed, failed, skipped } = countTestsIn(file) ?? { passed: 0, failed: 0, skipped: [] };
  // A file that does not load, or an error outside of any test, fails a run without a failed test.
  return { passed, failed: code === 0 ? failed : Math.max(1, failed), skipped: skipped.length };
}

/**
 * What vitest's JSON report says of a run. Undefined where there is no report.
 *
 * @param {string | undefined} report
 * @returns {{ passed: number, failed: number, skipped: string[] } | undefined}
 */
export function countTests(report) {
  if (report === undefined) {
    return undefined;
  }
  /** @type {{ testResults: Array<{ assertionResults: Array<{ status: string, fullName: string }> }> }} */
  const { testResults } = JSON.parse(report);
  const tests = testResults.flatMap((file) => file.assertionResults);
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    failed: tests.filter(({ status }) => status === 'failed').length,
    skipped: tests
      .filter(({ status }) => status !== 'passed' && status !== 'failed')
      .map(({ fullName }) => fullName),
  };
}
