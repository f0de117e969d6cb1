// @ts-check
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem, type } from 'node:os';
import { programs } from '../programs.mjs';

/**
 * What a result was measured on.
 *
 * @typedef {object} Machine
 * @property {string} cpu
 * @property {number} cores
 * @property {number} memoryGb
 * @property {string} system
 * @property {string} node
 * @property {string} rabbitmq
 * @property {Record<string, string>} packages
 */

const packageNames = Object.values(programs).flatMap(({ packageName }) => packageName ?? []);

/**
 * @param {string | undefined} rabbitmq
 * @returns {Machine}
 */
export function describeMachine(rabbitmq) {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()}`,
    node: process.versions.node,
    rabbitmq: rabbitmq ?? 'unknown',
    packages: Object.fromEntries(
      [...new Set([...packageNames, '@nestjs/core'])].map((name) => [name, versionOf(name)]),
    ),
  };
}

/**
 * @param {Machine} machine
 * @returns {string}
 */
export function machineLine({ cpu, cores, system, node, rabbitmq }) {
  return `${cpu}, ${cores} cores; ${system}; Node ${node}, RabbitMQ ${rabbitmq}`;
}

/**
 * The version of a package: this one, one of `bench/`, or one of the repository.
 *
 * @param {string} name
 * @returns {string}
 */
function versionOf(name) {
  const own = name === 'nestjs-settle' ? ['../../'] : [];
  for (const folder of [...own, `../node_modules/${name}/`, `../../node_modules/${name}/`]) {
    try {
      return JSON.parse(readFileSync(new URL(`${folder}package.json`, import.meta.url), 'utf8'))
        .version;
    } catch {
      // It is in the next folder.
    }
  }
  return 'not installed';
}
