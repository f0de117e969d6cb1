// @ts-check
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Administration } from './administration.mjs';
import { lastLines, run } from './commands.mjs';
import { sendOrder } from './kept-server.mjs';
import { channelFrom, connectionFrom, consumerFrom, queueFrom } from './listings.mjs';
import { memoryLimit } from './node-files.mjs';

/** @typedef {import('./listings.mjs').QueueListing} QueueListing */
/** @typedef {import('./listings.mjs').ConsumerListing} ConsumerListing */
/** @typedef {import('./listings.mjs').ConnectionListing} ConnectionListing */
/** @typedef {import('./listings.mjs').ChannelListing} ChannelListing */

/**
 * What another process needs to manage the same server; plain JSON.
 *
 * @typedef {object} ManagementDescription
 * @property {string} url the management plugin's address, with user and password
 * @property {{ command: string[], environment?: Record<string, string> }} [ctl] how `rabbitmqctl` is run
 * @property {string} [control] the socket of the process that keeps the node
 * @property {string} [logPath] the broker's log
 * @property {string[]} [logCommand] what writes the broker's log where it is no file
 */

/**
 * Looks into a test server and changes it, beside the clients under test. On a node that these tests started, queues
 * and connections are listed as they are, counts of messages are at most a few tenths of a second old (for quorum
 * queues; exact for classic ones), consumers and channels a little more than a second.
 */
export class Management extends Administration {
  #description;

  /**
   * @param {ManagementDescription} description
   */
  constructor(description) {
    super(description.url);
    this.#description = description;
  }

  /** The broker's log file, undefined where it has none on this machine. */
  get logPath() {
    return this.#description.logPath;
  }

  /** @returns {ManagementDescription} */
  describe() {
    return this.#description;
  }

  /** @returns {Promise<string>} */
  async version() {
    return (await this.http.call('GET', 'overview')).rabbitmq_version;
  }

  /**
   * @param {string} [vhost]
   * @returns {Promise<QueueListing[]>}
   */
  async queues(vhost = '/') {
    const path = `queues/${encodeURIComponent(vhost)}`;
    const [rows, counts] = await Promise.all([
      this.http.list(path),
      this.http.list(`${path}?disable_stats=true&enable_queue_totals=true`),
    ]);
    const countsOf = new Map(counts.map((row) => [row.name, row]));
    return rows.map((row) => queueFrom({ ...row, ...countsOf.get(row.name) }));
  }

  /**
   * @param {string} [vhost]
   * @returns {Promise<ConsumerListing[]>}
   */
  async consumers(vhost = '/') {
    return (await this.http.list(`consumers/${encodeURIComponent(vhost)}`)).map(consumerFrom);
  }

  /**
   * Every open connection; one that was opened a moment ago holds the answer up until its details are there.
   *
   * @returns {Promise<ConnectionListing[]>}
   */
  async connections() {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const open = await this.#openConnections();
      const rows = new Map((await this.http.list('connections')).map((row) => [row.name, row]));
      if (open.every(({ name }) => rows.get(name)?.client_properties !== undefined)) {
        return open.map(({ name }) => connectionFrom(rows.get(name)));
      }
      if (Date.now() > deadline) {
        throw new Error('the management plugin does not know the details of every open connection');
      }
      await sleep(50);
    }
  }

  /**
   * The names of the open connections as they are. From 4.3 on the list of all connections lags behind as much as
   * their details do; those of a user never do.
   *
   * @returns {Promise<Array<{ name: string }>>}
   */
  async #openConnections() {
    const users = await this.http.list('users');
    const paths = users.map(({ name }) => `connections/username/${encodeURIComponent(name)}`);
    return (await Promise.all(paths.map((path) => this.http.list(path)))).flat();
  }

  /** @returns {Promise<ChannelListing[]>} */
  async channels() {
    return (await this.http.list('channels')).map(channelFrom);
  }

  /**
   * Closes connections with CONNECTION_FORCED, as an administrator does. Without a filter it closes every one that
   * is open, also one that no listing shows yet; with a filter, those that are listed.
   *
   * @param {(connection: ConnectionListing) => boolean} [filter]
   * @param {string} [reason]
   * @returns {Promise<void>}
   */
  async closeConnections(filter, reason = 'closed by a test') {
    if (filter === undefined && this.#description.ctl !== undefined) {
      await this.ctl('close_all_connections', reason);
      return;
    }
    const chosen = (await this.connections()).filter(filter ?? (() => true));
    await Promise.all(chosen.map(({ name }) => this.closeConnection(name, reason)));
  }

  /**
   * @param {string} name
   * @param {string} [reason]
   * @returns {Promise<boolean>} false when there is no such connection
   */
  async closeConnection(name, reason = 'closed by a test') {
    return this.http.delete(`connections/${encodeURIComponent(name)}`, { 'x-reason': reason });
  }

  /**
   * Raises the server's memory alarm or ends it, and returns once it is so.
   *
   * @param {boolean} on
   * @returns {Promise<void>}
   */
  async setMemoryAlarm(on) {
    await this.ctl('set_vm_memory_high_watermark', 'absolute', on ? '1' : memoryLimit);
    const deadline = Date.now() + 15_000;
    while (((await this.http.status('health/checks/local-alarms')) !== 200) !== on) {
      if (Date.now() > deadline) {
        throw new Error(`the memory alarm is not ${on ? 'on' : 'off'} after 15 s`);
      }
      await sleep(50);
    }
  }

  /**
   * Stops the node gracefully and starts it again with the same ports and data.
   *
   * @returns {Promise<void>}
   */
  async restartNode() {
    await this.stopNode();
    await this.startNode();
  }

  /** Stops the node gracefully. @returns {Promise<void>} */
  async stopNode() {
    await sendOrder(this.#need('control'), 'stop');
  }

  /** Ends the node at once, as a crash does. @returns {Promise<void>} */
  async killNode() {
    await sendOrder(this.#need('control'), 'kill');
  }

  /** Starts a node that was stopped or killed. @returns {Promise<void>} */
  async startNode() {
    await sendOrder(this.#need('control'), 'start');
  }

  /**
   * Runs `rabbitmqctl` on the node and returns what it prints. A call takes about a second.
   *
   * @param {...string} parameters
   * @returns {Promise<string>}
   */
  async ctl(...parameters) {
    const { command, environment } = this.#need('ctl');
    return run([...command, '--quiet', ...parameters], { environment });
  }

  /**
   * Imports definitions with `rabbitmqctl import_definitions`, from a file where the command sees one.
   *
   * @param {object} definitions
   * @returns {Promise<string>}
   */
  async importDefinitions(definitions) {
    const { command, environment } = this.#need('ctl');
    const before = command.slice(0, -1);
    const script =
      'file=$(mktemp --suffix=.json); printf %s "$1" > "$file"; "$0" --quiet import_definitions "$file"; status=$?; rm "$file"; exit $status';
    const parameters = ['sh', '-c', script, command.at(-1) ?? '', JSON.stringify(definitions)];
    return run([...before, ...parameters], { environment, name: 'import_definitions' });
  }

  /**
   * The end of the broker's log.
   *
   * @param {number} [lines]
   * @returns {Promise<string>}
   */
  async logTail(lines = 50) {
    const { logPath, logCommand } = this.#description;
    if (logPath === undefined && logCommand === undefined) {
      throw new Error('the log of a server that these tests did not start is out of reach');
    }
    const text =
      logPath === undefined ? await run(logCommand ?? []) : readFileSync(logPath, 'utf8');
    return lastLines(text, lines);
  }

  /**
   * @template {'ctl' | 'control'} Part
   * @param {Part} part
   * @returns {NonNullable<ManagementDescription[Part]>}
   */
  #need(part) {
    const value = this.#description[part];
    if (value === undefined) {
      throw new Error(
        'this needs a server that the tests started themselves, not one from RABBITMQ_URL',
      );
    }
    return value;
  }
}
