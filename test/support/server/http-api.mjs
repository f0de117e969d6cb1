// @ts-check
import { request as startRequest } from 'node:http';
import { request as startSecureRequest } from 'node:https';

/**
 * The HTTP API of RabbitMQ's management plugin. Every call uses a connection of its own: an idle one would hold up
 * the stop of a node.
 */
export class HttpApi {
  #base;
  #credentials;

  /**
   * @param {string} url with user and password, `http://guest:guest@127.0.0.1:15672`
   */
  constructor(url) {
    this.#base = new URL(url);
    this.#credentials = `${decodeURIComponent(this.#base.username)}:${decodeURIComponent(this.#base.password)}`;
  }

  /** The user in whose name the calls are made. */
  get user() {
    return decodeURIComponent(this.#base.username);
  }

  /**
   * Calls `/api/...` and returns the decoded answer, undefined where there is none. Rejects on any other status
   * than 2xx, with the server's own words.
   *
   * @param {string} method
   * @param {string} path what follows `/api/`, with its parts encoded
   * @param {unknown} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<any>}
   */
  async call(method, path, body, headers) {
    const { status, text } = await this.#send(method, path, body, headers);
    if (status < 200 || status > 299) {
      throw new Error(`${method} /api/${path}: ${status} ${text}`);
    }
    return text === '' ? undefined : JSON.parse(text);
  }

  /**
   * The entries of a list.
   *
   * @param {string} path
   * @returns {Promise<any[]>}
   */
  async list(path) {
    return this.call('GET', path);
  }

  /**
   * Deletes what the path names; returns false when it does not exist.
   *
   * @param {string} path
   * @param {Record<string, string>} [headers]
   * @returns {Promise<boolean>}
   */
  async delete(path, headers) {
    const { status, text } = await this.#send('DELETE', path, undefined, headers);
    if (status === 404) {
      return false;
    }
    if (status < 200 || status > 299) {
      throw new Error(`DELETE /api/${path}: ${status} ${text}`);
    }
    return true;
  }

  /**
   * The status of a GET.
   *
   * @param {string} path
   * @returns {Promise<number>}
   */
  async status(path) {
    return (await this.#send('GET', path)).status;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   * @param {Record<string, string>} [headers]
   * @returns {Promise<{ status: number, text: string }>}
   */
  #send(method, path, body, headers = {}) {
    const { protocol, hostname, port, pathname } = this.#base;
    const content = body === undefined ? undefined : JSON.stringify(body);
    const options = {
      method,
      hostname,
      port,
      path: `${pathname.replace(/\/$/, '')}/api/${path}`,
      auth: this.#credentials,
      agent: false,
      timeout: 20_000,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(content ?? ''),
        ...headers,
      },
    };
    return new Promise((resolve, reject) => {
      const request = (protocol === 'https:' ? startSecureRequest : startRequest)(
        options,
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part) => {
            text += part;
          });
          response.once('error', reject);
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        },
      );
      request.once('timeout', () => request.destroy(new Error('no answer in 20 s')));
      request.once('error', (error) =>
        reject(
          new Error(`${method} ${this.#base.origin}/api/${path}: ${error.message}`, {
            cause: error,
          }),
        ),
      );
      request.end(content);
    });
  }
}
