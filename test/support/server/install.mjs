// @ts-check
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { findExecutable, run } from './commands.mjs';

const policyFile = '/usr/sbin/policy-rc.d';
const policyMark = '# Put here while rabbitmq-server is installed for tests; removed afterwards.';
const policyText = `#!/bin/sh\n${policyMark}\nexit 101\n`;
const forbidden = 101;

/**
 * Whether this machine lets the caller install RabbitMQ: Debian or Ubuntu, as root.
 *
 * @returns {boolean}
 */
export function canInstall() {
  return process.getuid?.() === 0 && isDebianFamily() && findExecutable('apt-get') !== undefined;
}

/**
 * Installs the package `rabbitmq-server` with apt-get. The package does not start a node of its own: while it is
 * installed a `policy-rc.d` forbids it. One that is there already is used as it is, and has to forbid it.
 *
 * @returns {Promise<void>}
 */
export async function installPackage() {
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const removePolicy = await forbidServiceStarts();
  try {
    await run(['apt-get', 'update', '-qq'], { environment, timeout: 300_000 });
    const install = [
      'apt-get',
      'install',
      '-y',
      '-qq',
      '--no-install-recommends',
      ...wait,
      'rabbitmq-server',
    ];
    await run(install, { environment, timeout: 600_000 });
  } finally {
    removePolicy();
  }
}

/**
 * @returns {boolean}
 */
function isDebianFamily() {
  let text;
  try {
    text = readFileSync('/etc/os-release', 'utf8');
  } catch (error) {
    if (isMissing(error)) {
      return false;
    }
    throw error;
  }
  const names = [...text.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, value = '']) =>
    value.split(' '),
  );
  return names.includes('debian') || names.includes('ubuntu');
}

/**
 * Puts the policy in place and returns what takes it away again, also when a signal ends the process before.
 *
 * @returns {Promise<() => void>}
 */
async function forbidServiceStarts() {
  try {
    writeFileSync(policyFile, policyText, { mode: 0o755, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
    if (readFileSync(policyFile, 'utf8') !== policyText) {
      await requireForbiddingPolicy();
      return () => {};
    }
  }
  /** @type {Array<'SIGINT' | 'SIGTERM' | 'SIGHUP'>} */
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  /** @param {NodeJS.Signals} signal */
  const onSignal = (signal) => {
    remove();
    process.kill(process.pid, signal);
  };
  const remove = () => {
    for (const signal of signals) {
      process.removeListener(signal, onSignal);
    }
    rmSync(policyFile, { force: true });
  };
  for (const signal of signals) {
    process.once(signal, onSignal);
  }
  return remove;
}

/**
 * @returns {Promise<void>}
 */
async function requireForbiddingPolicy() {
  const script = `"$0" rabbitmq-server start >/dev/null 2>&1; echo $?`;
  const answer = (await run(['sh', '-c', script, policyFile])).trim();
  if (answer !== String(forbidden)) {
    throw new Error(`${policyFile} lets packages start services; install rabbitmq-server by hand`);
  }
}

/**
 * @param {unknown} error
 * @returns {boolean}
 */
function isMissing(error) {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
