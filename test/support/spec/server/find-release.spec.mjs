// @ts-check
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findServer, prepareReleases } from '../../server/find-server.mjs';
import { versionOfScripts } from '../../server/installed.mjs';

const standIn = fileURLToPath(new URL('docker-stand-in.mjs', import.meta.url));

vi.setConfig({ testTimeout: 30_000 });

/** @type {string} */
let folder;
/** @type {string[]} */
let lines;
const log = (/** @type {string} */ line) => lines.push(line);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-release-'));
  lines = [];
  vi.stubEnv('RABBITMQ_URL', undefined);
  vi.stubEnv('RABBITMQ_MANAGEMENT_URL', undefined);
  vi.stubEnv('RABBITMQ_TEST_VERSION', undefined);
  vi.stubEnv('RABBITMQ_TEST_CACHE', join(folder, 'cache'));
  vi.stubEnv('DOCKER_STAND_IN', folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const notAsked = () => expect.unreachable('is not asked');

/** A machine that has 3.10.8 installed and nothing else. */
const machine = {
  findInstalledScripts: () => join(folder, 'installed'),
  versionOfScripts: () => '3.10.8',
  dockerAnswers: async () => false,
  canInstall: () => false,
  installPackage: notAsked,
  unpackRelease: notAsked,
};

function putDocker() {
  const file = join(folder, 'docker');
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${standIn}" "$@"\n`);
  chmodSync(file, 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
}

const docker = { ...machine, dockerAnswers: async () => true };
const containers = () => readdirSync(folder).filter((name) => name.endsWith('.json'));

/**
 * A server that tells its version to whoever opens a connection, as RabbitMQ does.
 *
 * @param {string} fields of the table in `connection.start`
 * @returns {Promise<import('node:net').Server>}
 */
async function greetWith(fields) {
  const payload = Buffer.from(`\x00\x0a\x00\x0a\x00\x09${fields}`, 'latin1');
  const frame = Buffer.concat([Buffer.from([1, 0, 0, 0, 0, 0, payload.length]), payload]);
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(frame.subarray(0, 5));
      setTimeout(() => socket.write(Buffer.concat([frame.subarray(5), Buffer.from([0xce])])), 20);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  vi.stubEnv('RABBITMQ_URL', `amqp://127.0.0.1:${port}`);
  return server;
}

describe('a requested release', () => {
  it('is the installed server if that is of the release', async () => {
    // What stands in for its scripts can't start; where Erlang is not installed, that is said before.
    const found = findServer({ log, version: '3.10' }, machine);
    await expect(found).rejects.toThrow(/did not start|epmd/);
    expect(lines).toEqual([`starting a private RabbitMQ node from ${join(folder, 'installed')}`]);
  });

  it('can be requested by RABBITMQ_TEST_VERSION, too', async () => {
    vi.stubEnv('RABBITMQ_TEST_VERSION', '4.3');
    await expect(findServer({ log }, machine)).rejects.toThrow(/^no RabbitMQ 4\.3: /);
  });

  it('is unpacked for root, with or without Docker', async () => {
    const root = join(folder, 'unpacked');
    const unpackRelease = vi.fn(async () => ({ scripts: '/scripts', root }));
    const found = findServer(
      { log, version: '4.3' },
      { ...docker, canInstall: () => true, unpackRelease },
    );
    await expect(found).rejects.toThrow();
    expect(unpackRelease).toHaveBeenCalledExactlyOnceWith('4.3', log);
    expect(lines).toEqual([`starting a private RabbitMQ node from ${root}`]);
  });

  it('is a Docker image for other users', async () => {
    putDocker();
    const server = await findServer({ log, version: '4.0' }, docker);
    await server.stop();
    expect(server).toMatchObject({ origin: 'docker', version: '4.0.7' });
    expect(lines).toEqual(['starting rabbitmq:4.0 in Docker']);
    expect(readFileSync(join(folder, 'calls'), 'utf8')).toMatch(/^create .* rabbitmq:4\.0$/m);
  });

  it('is a Docker image if unpacking failed', async () => {
    putDocker();
    const server = await findServer(
      { log, version: '4.3' },
      {
        ...docker,
        canInstall: () => true,
        unpackRelease: () => Promise.reject(new Error('no such mirror')),
      },
    );
    await server.stop();
    expect(server.version).toBe('4.3.7');
    expect(lines).toEqual(['no such mirror', 'starting rabbitmq:4.3 in Docker']);
  });

  it('is missing without Docker for the reason for which unpacking failed', async () => {
    const unpackRelease = () => Promise.reject(new Error('no such mirror'));
    const look = { ...machine, canInstall: () => true, unpackRelease };
    await expect(findServer({ log, version: '4.3' }, look)).rejects.toThrow(/^no such mirror$/);
  });

  it('is reported as missing in one line that says what to do', async () => {
    const found = findServer({ log, version: '4.3' }, machine);
    await expect(found).rejects.toThrow(
      /^no RabbitMQ 4\.3: start Docker, or be root on Debian or Ubuntu, .*cache, or set RABBITMQ_URL.*$/,
    );
    expect(lines).toEqual([]);
  });

  it('must be a known one', async () => {
    const found = findServer({ log, version: '4.1' }, machine);
    await expect(found).rejects.toThrow(/^tests know RabbitMQ 3\.10, 4\.0, 4\.3, not "4\.1"$/);
  });
});

describe('prepared releases', () => {
  it('are unpacked, unless they are installed, and not started', async () => {
    const unpackRelease = vi.fn(async () => ({ scripts: '/scripts' }));
    const look = { ...machine, canInstall: () => true, unpackRelease };
    await prepareReleases(['3.10', '4.0', '4.3'], { log }, look);
    expect(unpackRelease.mock.calls).toEqual([
      ['4.0', log],
      ['4.3', log],
    ]);
    expect(lines).toEqual([]);
  });

  it('are reported as missing in the same line', async () => {
    const prepared = prepareReleases(['3.10', '4.3'], { log }, machine);
    await expect(prepared).rejects.toThrow(/^no RabbitMQ 4\.3: /);
  });

  it('are not searched if RABBITMQ_URL names the server', async () => {
    vi.stubEnv('RABBITMQ_URL', 'amqp://127.0.0.1:1');
    await prepareReleases(['4.3'], { log }, machine);
  });
});

describe('a server of another release', () => {
  it('from Docker is ended and reported in one line', async () => {
    putDocker();
    vi.stubEnv('DOCKER_STAND_IN_VERSION', '4.30.1');
    const found = findServer({ log, version: '4.3' }, docker);
    await expect(found).rejects.toThrow(
      /^RabbitMQ 4\.3 was asked for, but the server from Docker is 4\.30\.1$/,
    );
    expect(containers()).toEqual([]);
  });

  it('from RABBITMQ_URL is recognised by its server properties', async () => {
    const greeter = await greetWith('\x07versionS\x00\x00\x00\x063.13.2');
    expect((await findServer({ log }, machine)).version).toBe('3.13.2');
    const found = findServer({ log, version: '4.0' }, machine);
    await expect(found).rejects.toThrow(
      /^RabbitMQ 4\.0 was asked for, but the server from RABBITMQ_URL is 3\.13\.2$/,
    );
    greeter.close();
  });

  it('is not guessed', async () => {
    const greeter = await greetWith('\x07productS\x00\x00\x00\x065.25.2');
    const found = findServer({ log, version: '4.0' }, machine);
    await expect(found).rejects.toThrow('of a version that it does not tell');
    greeter.close();
  });
});

describe('the installed version', () => {
  it('is that of the broker, not of its plugins', () => {
    const scripts = join(folder, 'rabbitmq', 'sbin');
    expect(versionOfScripts(scripts)).toBeUndefined();
    for (const name of ['rabbit_common-4.0.5', 'rabbit-4.0.5', 'rabbitmq_web_stomp-4.0.5']) {
      mkdirSync(join(folder, 'rabbitmq', 'plugins', name), { recursive: true });
    }
    expect(versionOfScripts(scripts)).toBe('4.0.5');
  });
});
