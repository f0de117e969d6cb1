// @ts-check
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpApi } from './http-api.mjs';

/**
 * Waits until a node answers on its AMQP port, which it opens last, and through its HTTP API. Rejects with what
 * `problem` returns as soon as it returns something, and when the time is over.
 *
 * @param {{ amqpPort: number, managementUrl: string, timeout: number, problem: () => string | undefined }} options
 * @returns {Promise<void>}
 */
export async function waitUntilReady({ amqpPort, managementUrl, timeout, problem }) {
  const deadline = Date.now() + timeout;
  const api = new HttpApi(managementUrl);
  while (!((await answersAmqp(amqpPort)) && (await answersHttp(api)))) {
    const reason =
      problem() ?? (Date.now() > deadline ? `not ready after ${timeout} ms` : undefined);
    if (reason !== undefined) {
      throw new Error(`the RabbitMQ node did not start: ${reason}`);
    }
    await sleep(100);
  }
}

/**
 * Whether an AMQP server on this loopback port answers the opening of a connection with `connection.start`.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function answersAmqp(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    /** @param {boolean} answer */
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(2000, () => settle(false));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
    socket.once('connect', () => socket.write(Buffer.from('AMQP\x00\x00\x09\x01', 'latin1')));
    socket.once('data', (data) => settle(data[0] === 1));
  });
}

/**
 * @param {HttpApi} api
 * @returns {Promise<boolean>}
 */
async function answersHttp(api) {
  try {
    return (await api.status('overview')) === 200;
  } catch {
    return false;
  }
}
