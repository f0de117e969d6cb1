// @ts-check
import { readFileSync, writeFileSync } from 'node:fs';
import { findExecutable, run } from './commands.mjs';

const usualPolicyFile = '/usr/sbin/policy-rc.d';
const forbidden = 101;
const policyText = `#!/bin/sh
# Put here while a package is installed for tests; removed afterwards.
exit ${forbidden}
`;

/** Writes nothing before its end, so that it can go on without a reader. */
const installation = `
trap '' HUP INT TERM
name=$1
shift
output=$(mktemp)
{
  apt-get update -qq &&
  apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$name"
} >"$output" 2>&1
code=$?
[ "$code" -eq 0 ] || cat "$output"
rm -f "$output" "$@"
exit "$code"
`;

/**
 * Whether this machine lets the caller install and unpack RabbitMQ: Debian or Ubuntu, as root.
 *
 * @returns {boolean}
 */
export function canInstall() {
  return process.getuid?.() === 0 && isDebianFamily() && findExecutable('apt-get') !== undefined;
}

/**
 * Installs a package with apt-get. That of the server does not start a node of its own: while it is
 * installed a `policy-rc.d` forbids it. One that is there already is used as it is, and has to forbid it. An
 * installation that has started is finished, and its policy removed, also when this process ends before.
 *
 * @param {string} name
 * @param {string} [policyFile]
 * @returns {Promise<void>}
 */
export async function installPackage(name, policyFile = usualPolicyFile) {
  const toRemove = (await forbidServiceStarts(policyFile)) ? [policyFile] : [];
  await run(['sh', '-c', installation, 'install', name, ...toRemove], {
    environment: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: 900_000,
    detached: true,
    name: `apt-get install ${name}`,
  });
}

/**
 * @returns {boolean}
 */
function isDebianFamily() {
  let text;
  try {
    text = readFileSync('/etc/os-release', 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) {
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
 * Sees to it that a policy is in place, and tells whether it was put there by these tests.
 *
 * @param {string} policyFile
 * @returns {Promise<boolean>}
 */
async function forbidServiceStarts(policyFile) {
  try {
    writeFileSync(policyFile, policyText, { mode: 0o755, flag: 'wx' });
    return true;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) {
      throw error;
    }
  }
  if (readFileSync(policyFile, 'utf8') === policyText) {
    return true;
  }
  await requireForbiddingPolicy(policyFile);
  return false;
}

/**
 * @param {string} policyFile
 * @returns {Promise<void>}
 */
async function requireForbiddingPolicy(policyFile) {
  const script = `"$0" rabbitmq-server start >/dev/null 2>&1; echo $?`;
  const answer = (await run(['sh', '-c', script, policyFile])).trim();
  if (answer !== String(forbidden)) {
    throw new Error(`${policyFile} lets packages start services; install by hand what is missing`);
  }
}

/**
 * @param {unknown} error
 * @param {string} code
 * @returns {boolean}
 */
function hasCode(error, code) {
  return error instanceof Error && 'code' in error && error.code === code;
}
