// @ts-check
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * The ports handed out lie below the range from which systems take the ports of outgoing connections. A client
 * that connects again and again to a node that is down can therefore not come to hold the node's own port.
 */
const lowest = 20_000;
const beyond = 30_000;

/**
 * Different ports of the loopback interface on which nothing listens at the moment.
 *
 * @param {number} count
 * @returns {Promise<number[]>}
 */
export async function findFreePorts(count) {
  /** @type {Set<number>} */
  const found = new Set();
  for (let tries = 0; found.size < count; tries += 1) {
    if (tries > 200) {
      throw new Error(`found no free port between ${lowest} and ${beyond}`);
    }
    const port = randomInt(lowest, beyond);
    if (!found.has(port) && (await isFree(port))) {
      found.add(port);
    }
  }
  return [...found];
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () =>
      server.close(() => resolve(true)),
    );
  });
}
