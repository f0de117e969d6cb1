// @ts-check
/** What the management plugin lists, in the words of the tests. */

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

/** @typedef {any} Row one entry of a list that the HTTP API returns */

/**
 * @param {Row} row
 * @returns {QueueListing}
 */
export function queueFrom(row) {
  return {
    name: row.name,
    type: row.type ?? row.arguments['x-queue-type'] ?? 'classic',
    arguments: row.arguments,
    durable: row.durable,
    autoDelete: row.auto_delete,
    exclusive: row.exclusive ?? false,
    policy: row.policy || undefined,
    messages_ready: row.messages_ready ?? 0,
    messages_unacknowledged: row.messages_unacknowledged ?? 0,
    consumers: row.consumers ?? 0,
  };
}

/**
 * @param {Row} row
 * @returns {ConsumerListing}
 */
export function consumerFrom(row) {
  return {
    queue: row.queue.name,
    tag: row.consumer_tag,
    prefetch: row.prefetch_count,
    noAck: !row.ack_required,
    channel: row.channel_details.name,
    connection: row.channel_details.connection_name,
  };
}

/**
 * @param {Row} row
 * @returns {ConnectionListing}
 */
export function connectionFrom(row) {
  return {
    name: row.name,
    givenName: row.client_properties?.connection_name,
    user: row.user,
    vhost: row.vhost,
    peerPort: row.peer_port,
    channels: row.channels ?? 0,
    state: row.state ?? 'running',
  };
}

/**
 * @param {Row} row
 * @returns {ChannelListing}
 */
export function channelFrom(row) {
  return {
    name: row.name,
    number: row.number,
    connection: row.connection_details?.name,
    vhost: row.vhost,
    confirm: row.confirm ?? false,
    prefetch: row.prefetch_count ?? 0,
    consumers: row.consumer_count ?? 0,
    messages_unacknowledged: row.messages_unacknowledged ?? 0,
  };
}
