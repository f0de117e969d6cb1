// @ts-check
/**
 * `node scripts/test-node.mjs [20] [22] [24] [lowest] [nest12]` runs the unit tests and a few of the integration tests on
 * the newest Node of each of these major versions, and on the lowest Node with the lowest versions of the peers and with
 * Nest 12. The versions come from npm and are kept in `.cache/node`. One line per cell; a version that is not available
 * has failed.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServer } from '../test/support/server/find-server.mjs';
import { runCells } from './matrix/cells.mjs';
import { nodeBinary } from './matrix/node-binary.mjs';
import { copyWithLowestPeers, copyWithNest12 } from './matrix/other-peers.mjs';
import { runVitest } from './matrix/vitest-run.mjs';

/** @typedef {import('./matrix/cells.mjs').Cell} Cell */
/** @typedef {import('../test/support/server/rabbit-server.mjs').RabbitServer} RabbitServer */

const root = fileURLToPath(new URL('..', import.meta.url));
const cache = join(root, '.cache', 'node');
const majors = [20, 22, 24];
const [lowestMajor = 20] = majors;
const known = [...majors.map(String), 'lowest', 'nest12'];

/** Copies of the repository with other peers. @type {Record<string, { name: string, make: () => Promise<{ folder: string, versions: string }> }>} */
const copies = {
  lowest: {
    name: 'the lowest peers',
    make: () => copyWithLowestPeers(root, join(cache, 'lowest-peers')),
  },
  nest12: { name: 'Nest 12', make: () => copyWithNest12(root, join(cache, 'nest-12')) },
};

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
  'behaviour/request-scope',
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
  const copy = copies[word];
  const major = copy === undefined ? Number(word) : lowestMajor;
  const name = copy === undefined ? `Node ${word}` : copy.name;
  const cell = (/** @type {string} */ what, /** @type {string[]} */ parameters) => ({
    name: `${name}, ${what}`,
    run: async () => {
      const node = await nodeBinary(cache, major);
      const { folder, versions } = (await copy?.make()) ?? { folder: root, versions: '' };
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
