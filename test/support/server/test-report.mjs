// @ts-check

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
