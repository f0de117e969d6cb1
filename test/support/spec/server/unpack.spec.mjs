// @ts-check
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unpackRelease } from '../../server/unpack.mjs';

const script = fileURLToPath(new URL('../../server/unpack.sh', import.meta.url));
const unpacked = 'usr/lib/rabbitmq/lib/rabbitmq_server-4.3.6/sbin';

vi.setConfig({ testTimeout: 30_000 });

/** @type {string} */
let folder;
/** @type {string} */
let cache;
/** @type {string[]} */
let lines;
const log = (/** @type {string} */ line) => lines.push(line);

/** Stands in for what needs root and a network: every command writes itself down. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'unpack-'));
  cache = join(folder, 'cache');
  lines = [];
  mkdirSync(join(folder, 'temporary'));
  vi.stubEnv('RABBITMQ_TEST_CACHE', cache);
  vi.stubEnv('TMPDIR', join(folder, 'temporary'));
  vi.stubEnv('CALLS', join(folder, 'calls'));
  vi.stubEnv('PATH', `${join(folder, 'bin')}${delimiter}${process.env.PATH}`);
  putCommand('unshare', 'shift; exec "$@"');
  putCommand('apt-config', 'echo "http_proxy=\'http://proxy.example\'"');
  putCommand(
    'debootstrap',
    'for it; do case $it in */*partial*) mkdir -p "$it/etc" "$it/usr/sbin" "$it/proc";; esac; done',
  );
  putCommand('mount', 'touch "$CALLS.mounted"');
  putCommand('umount', 'rm "$CALLS.mounted"');
  putCommand(
    'chroot',
    `case $* in
      *apt-cache*) echo "Package: rabbitmq-server"; echo "Version: 4.3.6-1";;
      *install*) mkdir -p "$1/${unpacked}";;
    esac`,
  );
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

/**
 * @param {string} name
 * @param {string} body
 */
function putCommand(name, body) {
  const file = join(folder, 'bin', name);
  mkdirSync(join(folder, 'bin'), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "${name} $*" >>"$CALLS"\n${body}\n`);
  chmodSync(file, 0o755);
}

const calls = () => readFileSync(join(folder, 'calls'), 'utf8');
const mirror = async () => 'http://mirror.example/debian/';
const missingPackages = () => [];
const unpack = () => unpackRelease('4.3', log, { missingPackages, findDebianMirror: mirror });

describe.runIf(process.platform === 'linux')('a release', () => {
  it("is unpacked once, from the machine's mirror and through its proxy", async () => {
    const installation = await unpack();
    expect(await unpack()).toEqual(installation);
    const root = join(cache, '4.3');
    expect(installation).toEqual({
      scripts: `/${unpacked}`,
      commandPrefix: ['unshare', '--mount', `--root=${root}`, '--mount-proc'],
      root,
    });
    expect(readdirSync(cache)).toEqual(['4.3']);
    expect(existsSync(join(root, 'etc/hosts'))).toBe(true);
    expect(readFileSync(join(root, 'usr/sbin/policy-rc.d'), 'utf8')).toContain('exit 101');
    expect(calls().match(/^debootstrap .*$/gm)).toEqual([
      expect.stringMatching(/ forky \S+partial-\d+ http:\/\/mirror\.example\/debian\/ \S+\/\w+$/),
    ]);
    expect(calls()).toMatch(
      /^chroot .* http_proxy=http:\/\/proxy\.example .* install .*rabbitmq-server$/m,
    );
    expect(lines).toEqual([
      `unpacking RabbitMQ 4.3 of Debian forky into ${root}; this is done once`,
    ]);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
  });

  it('installs its requirements first, with a line about it', async () => {
    const installPackage = vi.fn();
    const missingPackages = () => ['debootstrap'];
    await unpackRelease('4.3', log, { installPackage, missingPackages, findDebianMirror: mirror });
    expect(installPackage).toHaveBeenCalledExactlyOnceWith('debootstrap');
    expect(lines[0]).toBe('installing the package debootstrap with apt-get');
  });

  it('that fails reports the last output and leaves nothing', async () => {
    putCommand('debootstrap', 'mkdir -p "$5"; echo "E: Failed getting release file" >&2; exit 1');
    await expect(unpack()).rejects.toThrow(
      /^unpacking RabbitMQ 4\.3: ended with code 1\nE: Failed getting release file$/,
    );
    expect(readdirSync(cache)).toEqual([]);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
  });

  it('of another version than expected is not installed', async () => {
    putCommand('chroot', 'case $* in *apt-cache*) echo "Version: 4.30.1-1";; esac');
    await expect(unpack()).rejects.toThrow('Debian forky has RabbitMQ 4.30.1-1, not 4.3');
    expect(calls()).not.toContain(' install -y ');
    expect(readdirSync(cache)).toEqual([]);
  });

  it('that another process unpacked meanwhile is used', async () => {
    putCommand('umount', `mkdir -p "${cache}/4.3/${unpacked}"; rm "$CALLS.mounted"`);
    expect((await unpack()).root).toBe(join(cache, '4.3'));
    expect(readdirSync(cache)).toEqual(['4.3']);
  });

  it('removes the remains of a killed process, but nothing of a running one', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    mkdirSync(join(cache, `4.3.partial-${child.pid}`), { recursive: true });
    mkdirSync(join(cache, `4.3.partial-${process.pid}`));
    await unpack();
    expect(readdirSync(cache).sort()).toEqual(['4.3', `4.3.partial-${process.pid}`]);
  });

  it('that is interrupted leaves nothing', async () => {
    putCommand('debootstrap', 'mkdir -p "$5/etc"; echo started; exec sleep 1');
    mkdirSync(cache);
    const child = spawn('sh', [script, '4.3', 'forky', join(cache, '4.3')], { stdio: 'ignore' });
    await vi.waitFor(() => expect(readdirSync(cache)).toHaveLength(1), { timeout: 5000 });
    await vi.waitFor(() => expect(calls()).toContain('debootstrap'), { timeout: 5000 });
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(143);
    expect(readdirSync(cache)).toEqual([]);
    expect(readdirSync(join(folder, 'temporary'))).toEqual([]);
  });
});
