import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

/** How long Jest may take to exit after its last test file, in ms: 1 s, and some time for a slow machine. */
const LIMIT = 2_500;

interface JestResult {
  readonly success: boolean;
  readonly numPassedTests: number;
  readonly openHandles: readonly unknown[];
  readonly testResults: readonly { readonly name: string; readonly message: string }[];
}

describe('the examples for Jest', () => {
  it('pass, leave no open handles, and Jest exits by itself', async ({ signal }) => {
    const folder = mkdtempSync(join(tmpdir(), 'settle-jest-'));
    const file = join(folder, 'result.json');
    try {
      const { output, code, ended } = await run(signal, [
        ...['--config', join(import.meta.dirname, 'jest', 'jest.config.cjs')],
        ...['--detectOpenHandles', '--json', '--outputFile', file],
      ]);
      const result = JSON.parse(readFileSync(file, 'utf8')) as JestResult;
      expect(
        result.testResults
          .map(({ message }) => message)
          .join('')
          .trim(),
      ).toBe('');
      expect(code).toBe(0);
      expect(result.numPassedTests).toBeGreaterThanOrEqual(8);
      expect(result.openHandles).toEqual([]);
      expect(output.text).not.toMatch(/open handle|did not exit/i);
      expect(ended - output.lastAt).toBeLessThan(LIMIT);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

async function run(signal: AbortSignal, args: readonly string[]) {
  const bin = resolve(import.meta.dirname, '../../node_modules/jest/bin/jest.js');
  // Variables set by Vitest are not for Jest.
  const { NODE_ENV: _mode, VITEST: _vitest, ...env } = process.env;
  const child = spawn(process.execPath, [bin, ...args], {
    env,
    signal,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.once('error', () => {}); // Killed because the test timed out, which the test itself reports.
  const output = { text: '', lastAt: 0 };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      output.text += piece.toString();
      output.lastAt = Date.now();
    });
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output, ended: Date.now() };
}
