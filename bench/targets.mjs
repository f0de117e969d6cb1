// @ts-check
/** @typedef {import('./programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('./statistics.mjs').Limit} Limit */
/** @typedef {'rate' | 'cpu' | 'memory'} Quantity */

/**
 * What this package is to reach in some cells: a ratio to a neighbour in the same group.
 *
 * @typedef {object} RatioTarget
 * @property {string} name
 * @property {RegExp} cells
 * @property {ProgramLabel} subject
 * @property {ProgramLabel} peer
 * @property {Quantity} quantity
 * @property {Limit} limit
 */

/**
 * What something may cost this package in processor time, no more than it costs a peer: the difference of two
 * differences, in microseconds a message.
 *
 * @typedef {object} CostTarget
 * @property {string} name
 * @property {RegExp} cells
 * @property {{ with: ProgramLabel, without: ProgramLabel }} subject
 * @property {{ with: ProgramLabel, without: ProgramLabel }} peer
 * @property {Limit} limit
 */

/** @type {readonly RatioTarget[]} */
export const ratioTargets = [
  ...ofEach('golevelup', 'golevelup', /^empty handler, .*prefetch 250$/, [
    ['rate', { atLeast: 1.45 }],
    ['cpu', { atMost: 0.75 }],
  ]),
  ...ofEach('golevelup', 'golevelup', /^empty handler, .*prefetch 20$/, [
    ['rate', { atLeast: 1.4 }],
  ]),
  ...ofEach('amqplib, one ack a message', 'amqplib-each', /^empty handler, .*prefetch 250$/, [
    ['rate', { atLeast: 1.4 }],
  ]),
  ...ofEach('amqplib, one multiple ack a turn', 'amqplib-multiple', /./, [
    ['rate', { atLeast: 0.95 }],
  ]),
  ...ofEach('Nest microservices', 'nest-microservices', /./, [['rate', { atLeast: 1.8 }]]),
  ...ofEach('golevelup, one interceptor', 'golevelup-interceptor', /./, [
    ['rate', { atLeast: 2.7 }],
  ]),
  ...ofRetry("rascal's republish", 'rascal-retry', /^retry at once, classic/, 10),
  ...ofRetry("rascal's republish", 'rascal-retry', /^retry at once, quorum/, 20),
  ...ofRetry('copies by hand, the same headers', 'amqplib-retry-same', /^retry /, 0.95),
  ...ofRetry('copies by hand, two headers', 'amqplib-retry', /^retry /, 0.85),
  ...[
    /** @type {const} */ (['the same headers', 'amqplib-dead-same', 0.95]),
    /** @type {const} */ (['two headers', 'amqplib-dead', 0.85]),
  ].map(
    ([what, peer, atLeast]) =>
      /** @type {RatioTarget} */ ({
        name: `copies by hand, ${what}`,
        cells: /^dead-lettering/,
        subject: 'settle-dead',
        peer,
        quantity: 'rate',
        limit: { atLeast },
      }),
  ),
  {
    name: 'amqplib, one multiple ack a turn; everything declared',
    cells: /^empty handler, .*prefetch 250$/,
    subject: 'settle-declared',
    peer: 'amqplib-multiple',
    quantity: 'cpu',
    limit: { atMost: 1.08 },
  },
  {
    name: 'timeout, events and andAfter on, against off',
    cells: /^cost of features/,
    subject: 'settle',
    peer: 'settle-declared',
    quantity: 'cpu',
    limit: { atMost: 1.1 },
  },
  {
    name: 'timeout, events and andAfter on, against off',
    cells: /^cost of features/,
    subject: 'settle',
    peer: 'settle-declared',
    quantity: 'rate',
    limit: { atLeast: 0.9 },
  },
  ...[
    /** @type {const} */ (['metrics on, against off', 'settle-metrics', 0.95]),
    /** @type {const} */ (['traces on, against off', 'settle-traces', 0.85]),
  ].map(
    ([name, subject, atLeast]) =>
      /** @type {RatioTarget} */ ({
        name,
        cells: /^cost of telemetry/,
        subject,
        peer: 'settle-plain',
        quantity: 'rate',
        limit: { atLeast },
      }),
  ),
  {
    name: 'amqplib, one ack a message',
    cells: /^memory/,
    subject: 'settle',
    peer: 'amqplib-each',
    quantity: 'memory',
    limit: { atMost: 1.2 },
  },
];

/** @type {readonly CostTarget[]} */
export const costTargets = /** @type {const} */ (['parameter', 'pipe']).map((what) => ({
  name: `${what === 'pipe' ? 'a ValidationPipe' : 'a parameter decorator'}: added here, less added to golevelup`,
  cells: /^cost of a parameter/,
  subject: { with: `settle-${what}`, without: 'settle-plain' },
  peer: { with: `golevelup-${what}`, without: 'golevelup' },
  limit: { atMost: 0 },
}));

/** What is late beyond 12.5 % of a delay, in ms, at p99. */
export const DELAY_LIMIT = { atMost: 20 };

/** Nothing comes too early. */
export const EARLY_LIMIT = { atLeast: 0 };

/**
 * @param {string} name
 * @param {ProgramLabel} peer
 * @param {RegExp} cells
 * @param {ReadonlyArray<readonly [Quantity, Limit]>} limits
 * @returns {RatioTarget[]}
 */
function ofEach(name, peer, cells, limits) {
  return limits.map(([quantity, limit]) => ({
    name,
    cells,
    subject: 'settle',
    peer,
    quantity,
    limit,
  }));
}

/**
 * @param {string} name
 * @param {ProgramLabel} peer
 * @param {RegExp} cells
 * @param {number} atLeast
 * @returns {RatioTarget[]}
 */
function ofRetry(name, peer, cells, atLeast) {
  return [{ name, cells, subject: 'settle-retry', peer, quantity: 'rate', limit: { atLeast } }];
}
