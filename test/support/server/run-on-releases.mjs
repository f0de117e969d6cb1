// @ts-check
import { findServer } from './find-server.mjs';

/** @typedef {import('./rabbit-server.mjs').RabbitServer} RabbitServer */
/** @typedef {import('./releases.mjs').Release} Release */

/**
 * How a run of the tests ended.
 *
 * @typedef {object} TestRun
 * @property {number} code
 * @property {{ passed: number, failed: number, skipped: string[] } | undefined} [counts] undefined without a report
 * @property {boolean} [interrupted]
 */

/**
 * @typedef {object} Doing
 * @property {(server: RabbitServer, release: Release | undefined) => Promise<TestRun>} runTests
 * @property {(line: string) => void} log
 * @property {typeof findServer} [find]
 */

/**
 * Runs tests on a server of each release in turn, on the usual server where none is asked for, and then says in a
 * line each how it went and which tests did not apply. A release without a server has failed. An interrupted run is
 * the last one. Resolves with the exit code of the whole.
 *
 * @param {readonly Release[]} asked
 * @param {Doing} doing
 * @returns {Promise<number>}
 */
export async function runOnReleases(asked, { runTests, log, find = findServer }) {
  /** @type {string[]} */
  const lines = [];
  let code = 0;
  for (const release of asked.length === 0 ? [undefined] : asked) {
    const run = await runOn(release, { runTests, log, find });
    lines.push(...run.lines);
    code ||= run.code;
    if (run.interrupted) {
      break;
    }
  }
  lines.forEach(log);
  return code;
}

/**
 * @param {Release | undefined} release
 * @param {Required<Doing>} doing
 * @returns {Promise<{ code: number, lines: string[], interrupted?: boolean | undefined }>}
 */
async function runOn(release, { runTests, log, find }) {
  const begin = Date.now();
  let name = release === undefined ? 'RabbitMQ' : `RabbitMQ ${release}`;
  try {
    const server = await find({ log, version: release });
    name = `RabbitMQ ${server.version ?? 'of an unknown version'}`;
    try {
      const { code, counts, interrupted } = await runTests(server, release);
      const end = interrupted ? 'interrupted' : code === 0 ? 'passed' : 'failed';
      const seconds = Math.round((Date.now() - begin) / 1000);
      const skipped = counts?.skipped ?? [];
      const summary = counts ? `: ${counted(counts)}` : '';
      return {
        code,
        interrupted,
        lines: [
          `${name}: ${end} in ${seconds} s${summary}`,
          ...skipped.map((test) => `  not run: ${test}`),
        ],
      };
    } finally {
      await server.stop();
    }
  } catch (error) {
    return {
      code: 1,
      lines: [`${name}: failed: ${error instanceof Error ? error.message : error}`],
    };
  }
}

/**
 * @param {NonNullable<TestRun['counts']>} counts
 * @returns {string}
 */
function counted({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped.length} not run`;
}
