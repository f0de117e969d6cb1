// @ts-check
/**
 * `node faults.mjs [soak] [--duration=10m] [--seed=1] [--rabbitmq=4.3] [parameters of vitest...]` runs services under
 * faults in full, or as one long run with random faults. The seed of a run is printed with its figures.
 */
import { spawnSync } from 'node:child_process';
import { takeReleases } from '../test/support/server/releases.mjs';

const { asked, rest } = takeReleases(process.argv.slice(2));
/** @type {Record<string, string>} */
const environment = { FAULTS: 'full' };
/** @type {string[]} */
const parameters = [];
for (const word of rest) {
  const [, name, value] = /^--(seed|duration)=(.+)$/.exec(word) ?? [];
  if (word === 'soak') environment.FAULTS = 'soak';
  else if (name && value) environment[`FAULTS_${name.toUpperCase()}`] = value;
  else parameters.push(word);
}
const [release] = asked;
const { status } = spawnSync('vitest', ['run', '--project', 'faults', ...parameters], {
  stdio: 'inherit',
  env: { ...process.env, ...environment, ...(release && { RABBITMQ_TEST_VERSION: release }) },
});
process.exitCode = status ?? 1;
