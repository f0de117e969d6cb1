// @ts-check
/**
 * `node scripts/test-node.mjs [20] [22] [24] [lowest]` runs the unit tests and a few of the integration tests on the
 * newest Node of each of these major versions, and once on the lowest versions of the peers, on the lowest Node. The
 * versions come from npm and are kept in `.cache/node`. One line a cell; a version that can't be had has failed.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServer } from '../test/support/server/find-server.mjs';
import { runCells } from './matrix/cells.mjs';
import { copyWithLowestPeers } from './matrix/lowest-peers.mjs';
import { nodeBinary } from './matrix/node-binary.mjs';
import { runVitest } from './matrix/vitest-run.mjs';

/** @typedef {import('./matrix/cells.mjs').Cell} Cell */
/** @typedef {import('../test/support/server/rabbit-server.mjs').RabbitServer} RabbitServer */

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache', 'node');
const majors = [20, 22, 24];
const [lowestMajor = 20] = majors;
const known = [...majors.map(String), 'lowest'];

/** Settling, counting, waiting, losing connections, shutting down, exiting, and Nest's own machinery. */
const integration = [
  'behaviour/outcomes',
  'behaviour/attempts',
  'integration/delays',
  'behaviour/dead-letters',
  'integration/reconnects',
  'integration/shutdown',
  'integration/fail-fast-exit',
  'behaviour/interceptors',
  'integration/golevelup',
  'integration/testing-kit',
].map((name) => `test/${name}.spec.ts`);

const asked = process.argv.slice(2);
const unknown = asked.find((word) => !known.includes(word));
if (unknown !== undefined) {
  console.error(`expected some of ${known.join(', ')}; found ${unknown}`);
  process.exit(2);
}
const chosen = asked.length > 0 ? asked : known;

try {
  const server = await findServer({ log: (line) => console.error(line) });
  try {
    const cells = chosen.flatMap((word) => cellsOf(word, server));
    process.exitCode = await runCells(cells, (line) => console.log(line));
  } finally {
    await server.stop();
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/**
 * @param {string} word
 * @param {RabbitServer} server
 * @returns {Cell[]}
 */
function cellsOf(word, server) {
  const major = word === 'lowest' ? lowestMajor : Number(word);
  const name = word === 'lowest' ? 'the lowest peers' : `Node ${word}`;
  const cell = (/** @type {string} */ what, /** @type {string[]} */ parameters) => ({
    name: `${name}, ${what}`,
    run: async () => {
      const node = await nodeBinary(cache, major);
      const { folder, versions } =
        word === 'lowest'
          ? await copyWithLowestPeers(root, join(cache, 'lowest-peers'))
          : { folder: root, versions: '' };
      const { passed, failed, skipped, output } = await runVitest({
        root: folder,
        nodeFolder: node.folder,
        parameters,
        env: { RABBITMQ_TEST_SERVER: JSON.stringify(server.describe()) },
      });
      const on = [`Node ${node.version}`, versions].filter(Boolean).join(', ');
      const counts = `${passed} passed, ${failed} failed, ${skipped} not run`;
      return { passed: failed === 0 && passed > 0, summary: `${counts} (${on})`, output };
    },
  });
  return [
    cell('unit', ['--project', 'unit', '--project', 'memory']),
    cell('integration', ['--project', 'integration', ...integration]),
  ];
}
