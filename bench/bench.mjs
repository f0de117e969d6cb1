// @ts-check
/**
 * Measures this package side by side with what else there is; `README.md` says what is measured and how.
 *
 *     npm run bench                       the full run
 *     npm run bench -- --quick            shows in 90 s that everything works; its numbers mean nothing
 *     npm run bench -- --only PATTERN     the cells whose name matches, for example "retry|delays"
 *     npm run bench -- --rounds N         in place of 9
 *     npm run bench -- --messages N       as many in every cell, to see whether a program works
 *     npm run bench -- --rabbitmq=4.3     a server of that release
 *     npm run bench -- --list             the cells
 *     npm run bench -- --from FILE        the report of a run that was
 */
import { parseArgs } from 'node:util';
import { findServer } from '../test/support/server/find-server.mjs';
import { takeReleases } from '../test/support/server/releases.mjs';
import { cellsOf } from './cells.mjs';
import { leftOut } from './programs.mjs';
import { describeMachine } from './report/machine.mjs';
import { readResults, reportOf, writeChart, writeResults } from './report/results.mjs';
import { FULL, measureDelays, QUICK } from './run/delays.mjs';
import { measure } from './run/measure.mjs';
import { ensurePackages } from './run/packages.mjs';
import { Queues } from './run/queues.mjs';
import { runRounds } from './run/rounds.mjs';

const FULL_ROUNDS = 9;
const QUICK_ROUNDS = 2;

const { asked, rest } = takeReleases(process.argv.slice(2));
const { values } = parseArgs({
  args: rest,
  options: {
    quick: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    messages: { type: 'string' },
    from: { type: 'string' },
  },
});
const { quick } = values;
const rounds = Number(values.rounds ?? (quick ? QUICK_ROUNDS : FULL_ROUNDS));
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds needs a whole number');
const wanted = new RegExp(values.only ?? '');
const cells = cellsOf({ quick })
  .filter(({ name }) => wanted.test(name))
  .map((cell) => withMessages(cell, values.messages));
const delayTypes = /** @type {('classic' | 'quorum')[]} */ (
  quick ? ['classic'] : ['classic', 'quorum']
).filter((queueType) => wanted.test(`delays, ${queueType}`));

if (values.list) {
  for (const { name, groups } of cells)
    console.log(`${name}: ${[...new Set(groups.flat())].join(', ')}`);
  for (const queueType of delayTypes) console.log(`delays, ${queueType}: settle-delays`);
} else if (values.from !== undefined) {
  const results = readResults(values.from);
  console.log(reportOf(results));
  for (const file of writeChart(results)) console.error(file);
} else {
  await run();
}

async function run() {
  const begin = Date.now();
  const log = (/** @type {string} */ line) =>
    console.error(`${minutesSince(begin).toFixed(1)} min  ${line}`);
  for (const { name, reason } of leftOut) log(`not measured: ${name}; ${reason}`);
  ensurePackages(log);
  const server = await findServer({ log, version: asked[0] });
  const queues = await Queues.open(server.url);
  try {
    const cellRuns = await runRounds(cells, rounds, async (cell, label, round) => {
      const one = await measure(server.url, queues, cell, label).catch((error) => {
        log(`${error instanceof Error ? error.message : error}\nonce more`);
        return measure(server.url, queues, cell, label);
      });
      const rate = `${one.perSecond.toFixed(0)}/s, ${one.cpu.toFixed(1)} us`;
      log(`round ${round + 1} of ${rounds}: ${cell.name}: ${label} ${rate}`);
      return one;
    });
    const delays = [];
    for (const queueType of delayTypes) {
      log(`delays, ${queueType}`);
      delays.push(await measureDelays(server.url, queues, queueType, quick ? QUICK : FULL));
    }
    const results = {
      startedAt: new Date(begin).toISOString(),
      minutes: minutesSince(begin),
      rounds,
      complete: isComplete(),
      machine: describeMachine(server.version),
      cells: cellRuns,
      delays,
    };
    console.log(reportOf(results));
    for (const file of writeResults(results)) log(file);
  } finally {
    await queues.close();
    await server.stop();
  }
}

/**
 * Whether the README may show what this run measures.
 *
 * @returns {boolean}
 */
function isComplete() {
  const { only, messages } = values;
  return !quick && only === undefined && messages === undefined && rounds >= FULL_ROUNDS;
}

/**
 * @param {import('./cells.mjs').Cell} cell
 * @param {string | undefined} messages
 * @returns {import('./cells.mjs').Cell}
 */
function withMessages(cell, messages) {
  return messages === undefined ? cell : { ...cell, messages: Number(messages), fewer: undefined };
}

/**
 * @param {number} begin
 * @returns {number}
 */
function minutesSince(begin) {
  return (Date.now() - begin) / 60_000;
}
