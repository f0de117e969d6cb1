// @ts-check
/**
 * `node scripts/screenshots.mjs` starts the sample with its console on the in-memory broker and writes screenshots of the
 * page into docs/images. Needs Chromium: `CHROMIUM` is its path, /usr/bin/chromium by default.
 */
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const images = join(root, 'docs', 'images');
const port = '4517';
/** How long the sample publishes before it is shown, in ms: the charts have a bar for each minute. */
const traffic = Number(process.env['TRAFFIC'] ?? 150_000);

const sample = spawn('npm', ['run', 'sample', '--', '--serve'], {
  cwd: root,
  env: { ...process.env, PORT: port, RABBITMQ_URL: undefined },
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
try {
  await new Promise((resolve, reject) => {
    sample.stdout.on('data', (text) => String(text).includes('The console:') && resolve(undefined));
    sample.once('close', () => reject(new Error('the sample did not start')));
  });
  await new Promise((resolve) => setTimeout(resolve, traffic));
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  for (const [name, colorScheme, width, height] of /** @type {const} */ ([
    ['wide', 'light', 1600, 900],
    ['wide-dark', 'dark', 1600, 900],
    ['narrow', 'light', 400, 860],
    ['narrow-dark', 'dark', 400, 860],
  ])) {
    const viewport = { width, height };
    const page = await browser.newPage({ colorScheme, viewport });
    const shoot = (/** @type {string} */ what) =>
      page.screenshot({
        path: join(images, `console-${what}-${name}.jpg`),
        type: 'jpeg',
        quality: 55,
      });
    await page.goto(`http://127.0.0.1:${port}/settle`);
    await page.waitForSelector('.card');
    await page.waitForTimeout(1_500);
    await shoot('subscriptions');
    await page.click('[data-tab=dead-letters]');
    await page.waitForSelector('.group');
    if (width > 1000) {
      await page.click('[data-letter]');
      await page.waitForSelector('.drawer pre');
    }
    await page.waitForTimeout(300);
    await shoot('dead-letters');
    await page.close();
  }
  await browser.close();
} finally {
  if (sample.pid !== undefined) process.kill(-sample.pid, 'SIGTERM');
}
