// @ts-check
/**
 * `node scripts/api-report.mjs [--update]` compares the declarations in dist with the API reports in etc, one for each
 * entry of the package; a difference fails. `--update` writes the reports.
 */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isUpdating = process.argv.includes('--update');
mkdirSync(join(root, '.cache', 'api'), { recursive: true });

for (const name of [
  'api-extractor.json',
  'api-extractor.testing.json',
  'api-extractor.console.json',
  'api-extractor.dead-letters.json',
  'api-extractor.opentelemetry.json',
  'api-extractor.terminus.json',
]) {
  const config = ExtractorConfig.loadFileAndPrepare(join(root, 'etc', name));
  const { apiReportChanged, errorCount } = Extractor.invoke(config, {
    localBuild: isUpdating,
    messageCallback: (message) => {
      message.handled = true;
      if (message.logLevel === 'error') console.error(message.text);
    },
  });
  if (errorCount > 0) fail(`${name}: ${errorCount} errors`);
  if (apiReportChanged && !isUpdating) {
    fail(
      `${config.reportFilePath} differs from the declarations in dist. If the public API is meant to change, run \`npm run api\` and commit the report`,
    );
  }
}

/** @param {string} problem */
function fail(problem) {
  console.error(problem);
  process.exit(1);
}
