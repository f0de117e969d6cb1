// @ts-check
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines, run } from './commands.mjs';
import { HttpApi } from './http-api.mjs';
import { sendOrder } from './kept-server.mjs';

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
 * @typedef {object} QueueListing
 * @property {string} name
 * @property {string} type `classic`, `quorum` or `stream`
 * @property {Record<string, unknown>} arguments
 * @property {boolean} durable
 * @property {boolean} autoDelete
 * @property {boolean} exclusive
 * @property {string} [policy]
 * @property {number} messages_ready
 * @property {number} messages_unacknowledged
 * @property {number} consumers
 */

/**
 * @typedef {object} ConsumerListing
 * @property {string} queue
 * @property {string} tag
 * @property {number} prefetch
 * @property {boolean} noAck
 * @property {string} [channel] the channel's name: the connection's name and a number in brackets
 * @property {string} [connection] the connection's name
 */

/**
 * @typedef {object} ConnectionListing
 * @property {string} name the addresses of both ends
 * @property {string} [givenName] the name that the client gave it
 * @property {string} user
 * @property {string} vhost
 * @property {number} peerPort
 * @property {number} channels
 * @property {string} state
 */

/**
 * @typedef {object} ChannelListing
 * @property {string} name
 * @property {number} number
 * @property {string} [connection]
 * @property {string} vhost
 * @property {boolean} confirm
 * @property {number} prefetch
 * @property {number} consumers
 * @property {number} messages_unacknowledged
 */

/**
 * @typedef {object} Policy
 * @property {string} pattern
 * @property {Record<string, unknown>} definition
 * @property {'queues' | 'exchanges' | 'all'} [applyTo] `queues` when absent
 * @property {number} [priority] 0 when absent
 */

/**
 * Looks into a test server and changes it, beside the clients under test. Which queues, policies, users and virtual
 * hosts exist is always current; counts, consumers, connections and channels are as old as the server's last
 * statistics, a few tenths of a second on a node that these tests started.
 */
export class Management {
  #description;

  /**
   * @param {ManagementDescription} description
   */
  constructor(description) {
    this.#description = description;
    /** Calls of the HTTP API that have no method here. */
    this.http = new HttpApi(description.url);
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
    /** @type {any[]} */
    const rows = await this.http.call('GET', `queues/${encodeURIComponent(vhost)}`);
    return rows.map((row) => ({
      name: row.name,
      type: row.type ?? row.arguments['x-queue-type'] ?? 'classic',
      arguments: row.arguments,
      durable: row.durable,
      autoDelete: row.auto_delete,
      exclusive: row.exclusive,
      policy: row.policy || undefined,
      messages_ready: row.messages_ready ?? 0,
      messages_unacknowledged: row.messages_unacknowledged ?? 0,
      consumers: row.consumers ?? 0,
    }));
  }

  /**
   * @param {string} [vhost]
   * @returns {Promise<ConsumerListing[]>}
   */
  async consumers(vhost = '/') {
    /** @type {any[]} */
    const rows = await this.http.call('GET', `consumers/${encodeURIComponent(vhost)}`);
    return rows.map((row) => ({
      queue: row.queue.name,
      tag: row.consumer_tag,
      prefetch: row.prefetch_count,
      noAck: !row.ack_required,
      channel: row.channel_details.name,
      connection: row.channel_details.connection_name,
    }));
  }

  /** @returns {Promise<ConnectionListing[]>} */
  async connections() {
    /** @type {any[]} */
    const rows = await this.http.call('GET', 'connections');
    return rows
      .filter((row) => row.user !== undefined)
      .map((row) => ({
        name: row.name,
        givenName: row.client_properties?.connection_name,
        user: row.user,
        vhost: row.vhost,
        peerPort: row.peer_port,
        channels: row.channels ?? 0,
        state: row.state ?? 'running',
      }));
  }

  /** @returns {Promise<ChannelListing[]>} */
  async channels() {
    /** @type {any[]} */
    const rows = await this.http.call('GET', 'channels');
    return rows.map((row) => ({
      name: row.name,
      number: row.number,
      connection: row.connection_details?.name,
      vhost: row.vhost,
      confirm: row.confirm ?? false,
      prefetch: row.prefetch_count ?? 0,
      consumers: row.consumer_count ?? 0,
      messages_unacknowledged: row.messages_unacknowledged ?? 0,
    }));
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
   * @param {string} name
   * @param {string} [vhost]
   * @returns {Promise<boolean>} false when there is no such queue
   */
  async deleteQueue(name, vhost = '/') {
    return this.http.delete(`queues/${encodeURIComponent(vhost)}/${encodeURIComponent(name)}`);
  }

  /**
   * @param {string} name
   * @param {Policy} policy
   * @param {string} [vhost]
   * @returns {Promise<void>}
   */
  async setPolicy(name, { pattern, definition, applyTo = 'queues', priority = 0 }, vhost = '/') {
    const body = { pattern, definition, 'apply-to': applyTo, priority };
    await this.http.call(
      'PUT',
      `policies/${encodeURIComponent(vhost)}/${encodeURIComponent(name)}`,
      body,
    );
  }

  /**
   * @param {string} name
   * @param {string} [vhost]
   * @returns {Promise<boolean>} false when there is no such policy
   */
  async clearPolicy(name, vhost = '/') {
    return this.http.delete(`policies/${encodeURIComponent(vhost)}/${encodeURIComponent(name)}`);
  }

  /**
   * Adds a virtual host in which the management's own user may do everything.
   *
   * @param {string} name
   * @returns {Promise<void>}
   */
  async addVirtualHost(name) {
    await this.http.call('PUT', `vhosts/${encodeURIComponent(name)}`, {});
    await this.setPermissions(this.http.user, {}, name);
  }

  /**
   * @param {string} name
   * @returns {Promise<boolean>} false when there is no such virtual host
   */
  async deleteVirtualHost(name) {
    return this.http.delete(`vhosts/${encodeURIComponent(name)}`);
  }

  /**
   * Adds a user who may not do anything yet, or gives one another password.
   *
   * @param {string} name
   * @param {string} password
   * @param {string} [tags] such as `administrator`
   * @returns {Promise<void>}
   */
  async addUser(name, password, tags = '') {
    await this.http.call('PUT', `users/${encodeURIComponent(name)}`, { password, tags });
  }

  /**
   * @param {string} name
   * @returns {Promise<boolean>} false when there is no such user
   */
  async deleteUser(name) {
    return this.http.delete(`users/${encodeURIComponent(name)}`);
  }

  /**
   * @param {string} user
   * @param {{ configure?: string, write?: string, read?: string }} permissions patterns; everything when absent
   * @param {string} [vhost]
   * @returns {Promise<void>}
   */
  async setPermissions(user, { configure = '.*', write = '.*', read = '.*' }, vhost = '/') {
    const path = `permissions/${encodeURIComponent(vhost)}/${encodeURIComponent(user)}`;
    await this.http.call('PUT', path, { configure, write, read });
  }

  /**
   * Raises the server's memory alarm or ends it, and returns once it is so.
   *
   * @param {boolean} on
   * @returns {Promise<void>}
   */
  async setMemoryAlarm(on) {
    await this.ctl('set_vm_memory_high_watermark', 'absolute', on ? '1' : '1GB');
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
