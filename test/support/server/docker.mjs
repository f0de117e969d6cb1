// @ts-check
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { findExecutable, run } from './commands.mjs';
import { advancedSettings, commonSettings, enabledPlugins } from './node-files.mjs';
import { findFreePorts } from './ports.mjs';
import { waitUntilReady } from './readiness.mjs';

/**
 * The official image of a release, of the usual one when none is asked for.
 *
 * @param {import('./releases.mjs').Release} [release]
 * @returns {string}
 */
export function dockerImageOf(release) {
  return `rabbitmq:${release ?? '3.13'}`;
}

const startTimeout = 120_000;
const pullTimeout = 600_000;

/**
 * Whether a Docker engine answers on this machine.
 *
 * @returns {Promise<boolean>}
 */
export async function dockerAnswers() {
  if (findExecutable('docker') === undefined) {
    return false;
  }
  try {
    await run(['docker', 'info'], { timeout: 20_000 });
    return true;
  } catch {
    return false;
  }
}

/** One RabbitMQ node in a container of its own whose ports are bound to the loopback interface of this machine. */
export class DockerNode {
  #amqpPort;

  /**
   * @param {string} folder
   * @param {string} container
   * @param {number} amqpPort
   * @param {number} managementPort
   */
  constructor(folder, container, amqpPort, managementPort) {
    this.folder = folder;
    this.container = container;
    this.#amqpPort = amqpPort;
    this.url = `amqp://guest:guest@127.0.0.1:${amqpPort}`;
    /** @type {import('./management.mjs').ManagementDescription} */
    this.management = {
      url: `http://guest:guest@127.0.0.1:${managementPort}`,
      ctl: { command: ['docker', 'exec', container, 'rabbitmqctl'] },
      logCommand: ['docker', 'logs', '--tail', '5000', container],
    };
  }

  /**
   * Makes a container that is not started yet; the engine fetches the image when it does not have it.
   *
   * @param {{ image: string }} options
   * @returns {Promise<DockerNode>}
   */
  static async make({ image }) {
    const [amqpPort = 0, managementPort = 0] = await findFreePorts(2);
    const folder = mkdtempSync(join(tmpdir(), 'rabbitmq-for-tests-'));
    const node = new DockerNode(folder, basename(folder).toLowerCase(), amqpPort, managementPort);
    try {
      await node.#create(image, managementPort);
    } catch (error) {
      await node.remove();
      throw error;
    }
    return node;
  }

  /**
   * Starts the container and returns once the node in it accepts connections.
   *
   * @returns {Promise<void>}
   */
  async start() {
    await run(['docker', 'start', this.container]);
    const options = {
      amqpPort: this.#amqpPort,
      managementUrl: this.management.url,
      timeout: startTimeout,
    };
    await waitUntilReady({ ...options, problem: () => undefined });
  }

  /**
   * Stops the node gracefully; its data stays.
   *
   * @returns {Promise<void>}
   */
  async stop() {
    await run(['docker', 'stop', '-t', '30', this.container]);
  }

  /**
   * Ends the node at once; what is on its disk stays.
   *
   * @returns {Promise<void>}
   */
  async kill() {
    await run(['docker', 'kill', this.container]);
  }

  /**
   * Ends the node at once and removes the container with its data.
   *
   * @returns {Promise<void>}
   */
  async remove() {
    await run(['docker', 'rm', '--force', '--volumes', this.container]);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * @param {string} image
   * @param {number} managementPort
   * @returns {Promise<void>}
   */
  async #create(image, managementPort) {
    const ports = [
      '-p',
      `127.0.0.1:${this.#amqpPort}:5672`,
      '-p',
      `127.0.0.1:${managementPort}:15672`,
    ];
    const named = ['--name', this.container, '--hostname', 'localhost'];
    await run(['docker', 'create', ...named, ...ports, image], { timeout: pullTimeout });
    /** @type {Array<[string, string]>} */
    const files = [
      ['/etc/rabbitmq/conf.d/90-tests.conf', commonSettings],
      ['/etc/rabbitmq/advanced.config', advancedSettings],
      ['/etc/rabbitmq/enabled_plugins', enabledPlugins],
    ];
    for (const [target, text] of files) {
      const source = join(this.folder, basename(target));
      writeFileSync(source, text, { mode: 0o644 });
      await run(['docker', 'cp', source, `${this.container}:${target}`]);
    }
  }
}
