// @ts-check

/**
 * One combination of versions.
 *
 * @typedef {object} Cell
 * @property {string} name
 * @property {() => Promise<{ summary: string, passed: boolean, output?: string }>} run rejects where a version can't
 *   be had
 */

/**
 * Runs one cell after the other. One line a cell says how it went, after the output of one that failed; the last line
 * counts them. Gives the exit code.
 *
 * @param {readonly Cell[]} cells
 * @param {(line: string) => void} log
 * @returns {Promise<number>}
 */
export async function runCells(cells, log) {
  let failed = 0;
  for (const { name, run } of cells) {
    const begin = Date.now();
    try {
      const { summary, passed, output } = await run();
      if (!passed) {
        failed += 1;
        log(output ?? '');
      }
      const seconds = Math.round((Date.now() - begin) / 1000);
      log(`${name}: ${passed ? 'passed' : 'failed'} in ${seconds} s: ${summary}`);
    } catch (error) {
      failed += 1;
      log(`${name}: failed: ${error instanceof Error ? error.message : error}`);
    }
  }
  log(`${cells.length - failed} cells passed, ${failed} failed`);
  return failed === 0 && cells.length > 0 ? 0 : 1;
}
