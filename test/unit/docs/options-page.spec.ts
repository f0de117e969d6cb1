import { join } from 'node:path';
import { expect, it } from 'vitest';
import { optionsPage } from './options-page';

const page = join(__dirname, '../../../docs/options.md');

it('docs/options.md follows the table of options and their doc comments', async () => {
  await expect(optionsPage()).toMatchFileSnapshot(page);
});
