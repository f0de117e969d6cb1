// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { findServer } from '../../server/find-server.mjs';

const runWithServer = fileURLToPath(new URL('../../server/run-with-server.mjs', import.meta.url));
vi.stubEnv('RABBITMQ_URL', undefined);

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/**
 * @param {string} url
 * @returns {number}
 */
const portOf = (url) => Number(new URL(url).port);

it('runs beside another, survives a crash and a restart, and leaves nothing', async () => {
  const servers = await Promise.all([findServer(), findServer()]);
  const [first, second] = servers;
  const management = first.management;
  await management?.http.call('PUT', 'queues/%2F/kept', { durable: true });
  // Before 4.0 a crash can cost a declaration that was made a moment ago; a stop has written it.
  await management?.restartNode();
  await management?.killNode();
  await management?.startNode();
  expect((await management?.queues())?.map(({ name, type }) => [name, type])).toEqual([
    ['kept', 'classic'],
  ]);
  expect(await management?.deleteQueue('kept')).toBe(true);
  expect(await second.management?.queues()).toEqual([]);

  const traces = servers.map(({ url, management }) => {
    const { url: httpUrl, ctl, logPath = '' } = management?.describe() ?? { url: '' };
    const { ERL_EPMD_PORT } = ctl?.environment ?? {};
    const ports = [portOf(url), portOf(httpUrl), Number(ERL_EPMD_PORT)];
    return { folder: dirname(dirname(logPath)), ports };
  });
  expect(traces.every(({ folder }) => existsSync(folder))).toBe(true);
  await Promise.all(servers.map((server) => server.stop()));
  expect(traces.filter(({ folder }) => existsSync(folder))).toEqual([]);
  const ports = traces.flatMap((trace) => trace.ports);
  expect(await Promise.all(ports.map(listens))).toEqual(ports.map(() => false));
}, 120_000);

it('ends when the process that started it is killed', async () => {
  const script = 'console.log(process.env.RABBITMQ_URL); setTimeout(() => {}, 5000)';
  const words = [runWithServer, '--', process.execPath, '-e', script];
  const parent = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [url] = await once(createInterface({ input: parent.stdout }), 'line');
  expect(await listens(portOf(url))).toBe(true);
  parent.kill('SIGKILL');
  await vi.waitFor(async () => expect(await listens(portOf(url))).toBe(false), { timeout: 5000 });
}, 120_000);

it('lends its server to a command and ends as the command does', async () => {
  const script =
    'process.on("SIGTERM", () => process.exit(9)); console.log("up"); setInterval(() => {}, 1000)';
  const words = [runWithServer, '--', process.execPath, '-e', script];
  const parent = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(createInterface({ input: parent.stdout }), 'line');
  await sleep(50);
  parent.kill('SIGTERM');
  expect((await once(parent, 'exit'))[0]).toBe(9);
}, 120_000);
