// @ts-check
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from 'amqplib';

/** @typedef {import('../cells.mjs').Cell} Cell */
/** @typedef {import('../programs.mjs').Program} Program */

const EMPTY = {
  pattern: { pattern: 'bench', data: { id: 0, text: '' } },
  plain: { id: 0, text: '' },
};

/** The queues of the measurements, and the messages in them. */
export class Queues {
  #channel;
  #connection;

  /**
   * @param {import('amqplib').ChannelModel} connection
   * @param {import('amqplib').ConfirmChannel} channel
   */
  constructor(connection, channel) {
    this.#connection = connection;
    this.#channel = channel;
  }

  /**
   * @param {string} uri
   * @returns {Promise<Queues>}
   */
  static async open(uri) {
    const connection = await connect(uri);
    return new Queues(connection, await connection.createConfirmChannel());
  }

  /**
   * @param {string} queue
   * @param {string} dead
   * @param {'classic' | 'quorum'} queueType
   * @param {Record<string, unknown>} [more] further arguments of the queue itself
   */
  async declare(queue, dead, queueType, more = {}) {
    const type = { 'x-queue-type': queueType };
    await this.#channel.assertQueue(dead, { durable: true, arguments: type });
    await this.#channel.assertQueue(queue, { durable: true, arguments: { ...type, ...more } });
  }

  /**
   * Publishes persistent messages with the numbers from `first` on, and waits until the broker has them.
   *
   * @param {string} queue
   * @param {{ messages: number, bytes: number, envelope?: Program['envelope'], first?: number }} what
   */
  async fill(queue, { messages, bytes, envelope, first = 0 }) {
    const empty = JSON.stringify(EMPTY[envelope ?? 'plain']).length - 1;
    const text = 'x'.repeat(Math.max(0, bytes - empty));
    const options = { persistent: true, contentType: 'application/json' };
    for (let id = first; id < first + messages; id += 1) {
      const payload = `{"id":${id},"text":"${text.slice(String(id).length)}"}`;
      const body = envelope === 'pattern' ? `{"pattern":"bench","data":${payload}}` : payload;
      const hasRoom = this.#channel.sendToQueue(queue, Buffer.from(body), options);
      if (!hasRoom) await once(this.#channel, 'drain');
    }
    await this.#channel.waitForConfirms();
  }

  /**
   * How many messages are ready.
   *
   * @param {string} queue
   * @returns {Promise<number>}
   */
  async countOf(queue) {
    return (await this.#channel.checkQueue(queue)).messageCount;
  }

  /**
   * Resolves when this many messages are ready. Rejects when that takes too long.
   *
   * @param {string} queue
   * @param {number} count
   * @param {number} withinMs
   * @returns {Promise<void>}
   */
  async untilCount(queue, count, withinMs) {
    const until = performance.now() + withinMs;
    for (let ready = 0; ready < count; ready = await this.countOf(queue)) {
      if (performance.now() > until) throw new Error(`${queue}: ${ready} messages of ${count}`);
      await wait(5);
    }
  }

  /**
   * @param {readonly string[]} queues
   */
  async delete(queues) {
    for (const queue of queues) await this.#channel.deleteQueue(queue);
  }

  async close() {
    await this.#connection.close();
  }
}
