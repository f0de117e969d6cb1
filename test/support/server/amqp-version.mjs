// @ts-check
import { connect as connectPlain } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

const patience = 5000;

/**
 * The version that the server at this AMQP address tells everybody who opens a connection, before they log in.
 * Undefined when it does not answer, or tells none.
 *
 * @param {string} url
 * @returns {Promise<string | undefined>}
 */
export function versionAt(url) {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === 'amqps:';
  const target = { host: hostname || 'localhost', port: Number(port) || (secure ? 5671 : 5672) };
  return new Promise((resolve) => {
    const socket = secure
      ? connectSecurely({ ...target, servername: target.host })
      : connectPlain(target);
    /** @param {string | undefined} answer */
    const settle = (answer) => {
      socket.destroy();
      resolve(answer);
    };
    let received = Buffer.alloc(0);
    socket.setTimeout(patience, () => settle(undefined));
    socket.once('error', () => settle(undefined));
    socket.once('close', () => settle(undefined));
    socket.once(secure ? 'secureConnect' : 'connect', () =>
      socket.write(Buffer.from('AMQP\x00\x00\x09\x01', 'latin1')),
    );
    socket.on('data', (part) => {
      received = Buffer.concat([received, part]);
      const size = received.length < 7 ? Number.POSITIVE_INFINITY : received.readUInt32BE(3);
      if (received.length >= 7 + size) {
        settle(versionIn(received));
      }
    });
  });
}

/**
 * @param {Buffer} start the frame `connection.start`, in whose table the version is a long string
 * @returns {string | undefined}
 */
function versionIn(start) {
  const field = Buffer.from('\x07versionS', 'latin1');
  const at = start.indexOf(field);
  if (at === -1) {
    return undefined;
  }
  const text = at + field.length + 4;
  return start.toString('utf8', text, text + start.readUInt32BE(text - 4));
}
