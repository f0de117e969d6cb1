// @ts-check
/** Publishes the package; refuses while package.json does not say where it comes from. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const missing = ['repository', 'homepage'].filter((field) => !manifest[field]);
if (missing.length > 0) {
  console.error(
    `package.json: expected ${missing.join(' and ')}; found none. Set them to the address of the repository: npm shows relative links of the README only with them, and provenance needs them.`,
  );
  process.exit(1);
}
const parameters = ['--yes', '@changesets/cli@^2', 'publish', ...process.argv.slice(2)];
const { status } = spawnSync('npx', parameters, { stdio: 'inherit' });
process.exit(status ?? 1);
