// @ts-check
import { expect, it, vi } from 'vitest';
import { runOnReleases } from '../../server/run-on-releases.mjs';

/** @typedef {import('../../server/run-on-releases.mjs').TestRun} TestRun */

/**
 * @param {{ missing?: string, runs?: Record<string, Partial<TestRun>> }} [machine]
 */
function make({ missing, runs = {} } = {}) {
  /** @type {string[]} */
  const events = [];
  /** @type {string[]} */
  const lines = [];
  return {
    events,
    lines,
    doing: {
      log: (/** @type {string} */ line) => lines.push(line),
      find: vi.fn(async ({ version = 'usual' } = {}) => {
        if (version === missing) {
          throw new Error(`no RabbitMQ ${version}`);
        }
        events.push(`start ${version}`);
        const stop = async () => {
          events.push(`stop ${version}`);
        };
        const server = { url: 'amqp://x', version: `${version}.1`, stop };
        return /** @type {import('../../server/rabbit-server.mjs').RabbitServer} */ (
          /** @type {unknown} */ (server)
        );
      }),
      runTests: vi.fn(async (_server, /** @type {string} */ release = 'usual') => {
        events.push(`test ${release}`);
        return { code: 0, ...runs[release] };
      }),
    },
  };
}

it('runs one release after the other, each with its server', async () => {
  const { events, lines, doing } = make();
  expect(await runOnReleases(['3.10', '4.3'], doing)).toBe(0);
  expect(events).toEqual(
    ['3.10', '4.3'].flatMap((release) => [
      `start ${release}`,
      `test ${release}`,
      `stop ${release}`,
    ]),
  );
  expect(lines).toEqual(['RabbitMQ 3.10.1: passed in 0 s', 'RabbitMQ 4.3.1: passed in 0 s']);
});

it('uses the default server if no release is requested', async () => {
  const { events, doing } = make();
  expect(await runOnReleases([], doing)).toBe(0);
  expect(events).toEqual(['start usual', 'test usual', 'stop usual']);
});

it('continues after a failure, and fails as a whole', async () => {
  const counts = { passed: 8, failed: 1, skipped: ['x (RabbitMQ from 4.3 on: why)'] };
  const { lines, doing } = make({ runs: { 3.1: {}, '3.10': { code: 1, counts } } });
  expect(await runOnReleases(['3.10', '4.0'], doing)).toBe(1);
  expect(lines).toEqual([
    'RabbitMQ 3.10.1: failed in 0 s: 8 passed, 1 failed, 1 not run',
    '  not run: x (RabbitMQ from 4.3 on: why)',
    'RabbitMQ 4.0.1: passed in 0 s',
  ]);
});

it('does not skip a release without a server', async () => {
  const { events, lines, doing } = make({ missing: '4.3' });
  expect(await runOnReleases(['4.3', '4.0'], doing)).toBe(1);
  expect(events).toEqual(['start 4.0', 'test 4.0', 'stop 4.0']);
  expect(lines).toEqual(['RabbitMQ 4.3: failed: no RabbitMQ 4.3', 'RabbitMQ 4.0.1: passed in 0 s']);
});

it('ends with an interrupted run', async () => {
  const { events, lines, doing } = make({ runs: { '3.10': { code: 130, interrupted: true } } });
  expect(await runOnReleases(['3.10', '4.3'], doing)).toBe(130);
  expect(events).toEqual(['start 3.10', 'test 3.10', 'stop 3.10']);
  expect(lines).toEqual(['RabbitMQ 3.10.1: interrupted in 0 s']);
});
