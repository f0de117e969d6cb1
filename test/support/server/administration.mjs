// @ts-check
import { HttpApi } from './http-api.mjs';

/**
 * @typedef {object} Policy
 * @property {string} pattern
 * @property {Record<string, unknown>} definition
 * @property {'queues' | 'exchanges' | 'all'} [applyTo] `queues` when absent
 * @property {number} [priority] 0 when absent
 */

/** Changes what a server holds beside the clients under test: queues, policies, virtual hosts and users. */
export class Administration {
  /**
   * @param {string} url the management plugin's address, with user and password
   */
  constructor(url) {
    /** For calls that have no method here. */
    this.http = new HttpApi(url);
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
}
