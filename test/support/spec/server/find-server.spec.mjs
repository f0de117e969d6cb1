// @ts-check
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findServer, managementFrom } from '../../server/find-server.mjs';
import { installPackage } from '../../server/install.mjs';

const standIn = fileURLToPath(new URL('docker-stand-in.mjs', import.meta.url));
const notInstalled = { findInstalledScripts: () => undefined };
const nothingElse = { dockerAnswers: async () => false, canInstall: () => false };

vi.setConfig({ testTimeout: 30_000 });

/** @type {string} */
let folder;
/** @type {string[]} */
let lines;
const log = (/** @type {string} */ line) => lines.push(line);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'find-server-'));
  mkdirSync(join(folder, 'temporary'));
  lines = [];
  vi.stubEnv('RABBITMQ_URL', undefined);
  vi.stubEnv('RABBITMQ_MANAGEMENT_URL', undefined);
  vi.stubEnv('RABBITMQ_TEST_VERSION', undefined);
  vi.stubEnv('TMPDIR', join(folder, 'temporary'));
  vi.stubEnv('DOCKER_STAND_IN', folder);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/**
 * Puts a command in front of all others in PATH.
 *
 * @param {string} name
 * @param {string} script
 */
function putCommand(name, script) {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  vi.stubEnv('PATH', `${folder}${delimiter}${process.env.PATH}`);
}

const filesLeft = () => readdirSync(join(folder, 'temporary'));
const dockerCalls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');

describe('a server from the environment', () => {
  it('takes precedence and is left running', async () => {
    vi.stubEnv('RABBITMQ_URL', 'amqp://127.0.0.1:1');
    const server = await findServer({ log });
    await server.stop();
    expect(server).toMatchObject({ url: 'amqp://127.0.0.1:1', origin: 'environment' });
    expect(server.management).toBeUndefined();
    expect(managementFrom(server.describe())).toBeUndefined();
    expect(lines).toEqual([]);
  });

  it('is managed through RABBITMQ_MANAGEMENT_URL, with the credentials of RABBITMQ_URL', async () => {
    /** @type {string | undefined} */
    let authorization;
    const http = createServer((request, response) => {
      authorization = request.headers.authorization;
      response.end('{"rabbitmq_version":"4.1.0"}');
    });
    await new Promise((resolve) => http.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (http.address());
    vi.stubEnv('RABBITMQ_URL', 'amqp://user:p%40ss@127.0.0.1');
    vi.stubEnv('RABBITMQ_MANAGEMENT_URL', `http://127.0.0.1:${port}`);
    const server = await findServer({ log });
    http.close();
    expect(server.version).toBe('4.1.0');
    expect(Buffer.from(authorization?.split(' ')[1] ?? '', 'base64').toString()).toBe('user:p@ss');
    await expect(server.management?.restartNode()).rejects.toThrow('RABBITMQ_URL');
  });
});

describe('a private node', () => {
  it('that does not start is reported in its own words and leaves nothing', async () => {
    putCommand('rabbitmq-server', 'echo "no such luck" >&2; exit 3');
    putCommand('epmd', 'exec sleep 60');
    const found = findServer({ log }, { findInstalledScripts: () => folder });
    await expect(found).rejects.toThrow(/code 3\nno such luck/);
    expect(lines).toEqual([`starting a private RabbitMQ node from ${folder}`]);
    expect(filesLeft()).toEqual([]);
  });
});

describe('Docker', () => {
  it('serves on loopback only, can be managed from elsewhere, and leaves nothing', async () => {
    putCommand('docker', `exec "${process.execPath}" "${standIn}" "$@"`);
    const server = await findServer({ log }, notInstalled);
    expect(server).toMatchObject({ origin: 'docker', version: '3.13.7' });
    const management = managementFrom(JSON.parse(JSON.stringify(server.describe())));
    await management?.killNode();
    await management?.startNode();
    await management?.restartNode();
    expect(await management?.ctl('list_queues')).toMatch(/^\S+ rabbitmqctl --quiet list_queues\n$/);
    expect(await management?.logTail()).toBe('a line of the log');
    await server.stop();
    const { port } = new URL(server.url);
    expect(dockerCalls().find((call) => call.startsWith('create'))).toContain(
      ` -p 127.0.0.1:${port}:5672 `,
    );
    expect(dockerCalls().at(-1)).toMatch(/^rm --force --volumes /);
    expect(readdirSync(folder).filter((name) => name.endsWith('.json'))).toEqual([]);
    expect(filesLeft()).toEqual([]);
    expect(lines).toEqual(['starting rabbitmq:3.13 in Docker']);
  });

  it('is passed over when the engine does not answer', async () => {
    putCommand('docker', 'echo "no engine" >&2; exit 1');
    const found = findServer({ log }, { ...notInstalled, canInstall: () => false });
    await expect(found).rejects.toThrow(/^no RabbitMQ server: install rabbitmq-server .*$/);
    expect(lines).toEqual([]);
  });

  it('is replaced by an installation if the image is not available', async () => {
    putCommand('docker', '[ "$1" != create ] || { echo "no such image"; exit 125; }');
    const installPackage = vi.fn();
    const found = findServer({ log }, { ...notInstalled, canInstall: () => true, installPackage });
    await expect(found).rejects.toThrow('rabbitmq-server is installed, but');
    expect(installPackage).toHaveBeenCalledOnce();
    expect(lines[1]).toMatch(/^Docker did not start it: .*code 125\nno such image/s);
    expect(filesLeft()).toEqual([]);
  });
});

describe('an installation', () => {
  it('is not tried if it cannot work', async () => {
    const found = findServer({ log }, { ...notInstalled, ...nothingElse });
    await expect(found).rejects.toThrow(/^no RabbitMQ server: install rabbitmq-server .*$/);
  });

  it('prevents the start of services by a policy while it runs', async () => {
    const policy = join(folder, 'policy-rc.d');
    putCommand('apt-get', `"${policy}" rabbitmq-server start; echo "$1 $?" >>"${folder}/calls"`);
    await installPackage('rabbitmq-server', policy);
    expect(dockerCalls()).toEqual(['update 101', 'install 101']);
    expect(existsSync(policy)).toBe(false);
  });

  it('leaves a policy of the machine in place', async () => {
    const policy = join(folder, 'policy-rc.d');
    putCommand('policy-rc.d', 'exit 101');
    putCommand('apt-get', 'exit 0');
    await installPackage('rabbitmq-server', policy);
    expect(existsSync(policy)).toBe(true);
  });

  it('does not begin if the machine would start services', async () => {
    putCommand('policy-rc.d', 'exit 0');
    putCommand('apt-get', 'echo called >&2; exit 1');
    await expect(installPackage('rabbitmq-server', join(folder, 'policy-rc.d'))).rejects.toThrow(
      'start services',
    );
  });

  it('that fails reports the output of apt-get and removes the policy', async () => {
    const policy = join(folder, 'policy-rc.d');
    putCommand('apt-get', 'echo "E: no such package"; exit 100');
    await expect(installPackage('rabbitmq-server', policy)).rejects.toThrow(
      'code 100\nE: no such package',
    );
    expect(existsSync(policy)).toBe(false);
    expect(filesLeft()).toEqual([]);
  });
});
