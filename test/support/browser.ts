import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { canInstall, installPackage } from './server/install.mjs';

const PLACES = [
  process.env['CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Why no browser can be started here; for the title of skipped tests. */
export const noBrowser = 'no Chromium: set CHROMIUM to its path, or run as root on Debian';

/** The path of a Chromium, installed with apt-get where that is permitted; `undefined` if there is none. */
export async function findBrowser(): Promise<string | undefined> {
  const found = (): string | undefined =>
    PLACES.find((place): place is string => place !== undefined && existsSync(place));
  if (found() === undefined && canInstall()) {
    await installPackage('chromium').catch((error: unknown) => console.error(String(error)));
  }
  return found();
}

/** Starts a headless browser that reaches this machine only. */
export function startBrowser(executablePath: string): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-background-networking', '--disable-component-update'];
  return chromium.launch({ executablePath, args });
}
