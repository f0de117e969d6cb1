// @ts-check
/** @typedef {import('./programs.mjs').ProgramLabel} ProgramLabel */
/** @typedef {import('./programs/support/handlers.mjs').HandlerKind} HandlerKind */

/**
 * One thing that is measured: the same messages for several programs. The programs of a group run one after the other
 * in every round, so that a ratio comes from neighbours.
 *
 * @typedef {object} Cell
 * @property {string} name
 * @property {'classic' | 'quorum'} queueType
 * @property {number} prefetch
 * @property {number} bytes the size of a message
 * @property {number} messages
 * @property {HandlerKind} handler
 * @property {number | undefined} [waitMs]
 * @property {number | undefined} [delayMs]
 * @property {ReadonlyArray<readonly ProgramLabel[]>} groups
 * @property {Partial<Record<ProgramLabel, number>> | undefined} [fewer] how many messages a slow program gets instead
 */

const QUEUE_TYPES = /** @type {const} */ (['classic', 'quorum']);
const KIB = 1024;

/** Each peer is a neighbour of a run of this package. */
const EVERYBODY = /** @type {const} */ ([
  ['amqplib-each', 'settle', 'amqplib-multiple'],
  ['golevelup', 'settle', 'golevelup-interceptor'],
  ['nest-microservices', 'settle', 'rabbitmq-client'],
  ['rascal', 'settle'],
]);
/** What a subscription costs that declares everything, against the limit for Node. */
export const DECLARED = /** @type {const} */ (['settle-declared', 'amqplib-multiple']);
const CLOSEST = /** @type {const} */ ([
  ['amqplib-each', 'settle', 'amqplib-multiple'],
  ['golevelup', 'settle'],
]);

const RETRIES = /** @type {const} */ ([
  ['amqplib-retry', 'settle-retry', 'amqplib-retry-same'],
  ['rascal-retry', 'settle-retry'],
]);

/**
 * The cells of a run. A quick one has fewer, smaller ones: it shows that all works, and measures nothing.
 *
 * @param {{ quick: boolean }} options
 * @returns {Cell[]}
 */
export function cellsOf({ quick }) {
  return quick ? quickCells() : fullCells();
}

/**
 * @returns {Cell[]}
 */
function fullCells() {
  return [...emptyCells(), ...variantCells(), ...costCells(), ...failingCells(), memoryCell()];
}

/**
 * @returns {Cell[]}
 */
function emptyCells() {
  return QUEUE_TYPES.flatMap((queueType) =>
    [250, 20].map((prefetch) => ({
      name: `empty handler, ${queueType}, prefetch ${prefetch}`,
      queueType,
      prefetch,
      bytes: 250,
      messages: (queueType === 'quorum' ? 24_000 : 18_000) * (prefetch === 20 ? 0.75 : 1),
      handler: 'empty',
      groups: prefetch === 250 ? [...EVERYBODY, DECLARED] : EVERYBODY,
    })),
  );
}

/**
 * @returns {Cell[]}
 */
function variantCells() {
  return QUEUE_TYPES.flatMap((queueType) => [
    {
      name: `16 KiB, ${queueType}, prefetch 250`,
      queueType,
      prefetch: 250,
      bytes: 16 * KIB,
      messages: 6000,
      handler: 'empty',
      groups: CLOSEST,
    },
    {
      name: `handler of 1 ms, ${queueType}, prefetch 250`,
      queueType,
      prefetch: 250,
      bytes: 250,
      messages: 15_000,
      handler: 'wait',
      waitMs: 1,
      groups: CLOSEST,
    },
  ]);
}

/**
 * @returns {Cell[]}
 */
function costCells() {
  const common = /** @type {const} */ ({
    queueType: 'classic',
    prefetch: 250,
    bytes: 250,
    messages: 16_000,
    handler: 'empty',
  });
  return [
    {
      ...common,
      name: 'cost of features',
      groups: [
        ['settle-declared', 'settle'],
        ['settle-plain', 'amqplib-multiple'],
      ],
    },
    {
      ...common,
      name: 'cost of telemetry',
      groups: [['settle-plain', 'settle-metrics', 'settle-traces']],
    },
    {
      ...common,
      name: 'cost of contexts and request scopes',
      groups: [['settle-plain', 'settle-context', 'settle-request-scope']],
    },
    {
      ...common,
      name: 'batches and order',
      groups: [['settle-plain', 'settle-batch', 'settle-order']],
    },
    {
      ...common,
      name: 'cost of a parameter decorator and a ValidationPipe',
      messages: 12_000,
      groups: [
        ['settle-plain', 'settle-parameter', 'golevelup-parameter', 'golevelup'],
        ['settle-plain', 'settle-pipe', 'golevelup-pipe', 'golevelup'],
      ],
    },
  ];
}

/**
 * @returns {Cell[]}
 */
function failingCells() {
  return QUEUE_TYPES.flatMap((queueType) => {
    const common = { queueType, prefetch: 250, bytes: 250 };
    const retry = { ...common, handler: /** @type {const} */ ('failTwice') };
    return [
      {
        ...retry,
        name: `retry at once, ${queueType}`,
        messages: 6000,
        groups: RETRIES,
        fewer: { 'rascal-retry': 100 },
      },
      {
        ...retry,
        name: `retry after 100 ms, ${queueType}`,
        messages: 6000,
        delayMs: 100,
        groups: RETRIES,
        fewer: { 'rascal-retry': 100 },
      },
      {
        ...common,
        name: `dead-lettering, ${queueType}`,
        handler: 'fail',
        messages: 12_000,
        groups: [
          ['amqplib-dead', 'settle-dead', 'amqplib-dead-same'],
          ['rascal-dead', 'settle-dead'],
        ],
        fewer: { 'rascal-dead': 200 },
      },
    ];
  });
}

/**
 * @returns {Cell}
 */
function memoryCell() {
  return {
    name: 'memory, 16 KiB, classic, prefetch 1000',
    queueType: 'classic',
    prefetch: 1000,
    bytes: 16 * KIB,
    messages: 8000,
    handler: 'wait',
    waitMs: 20,
    groups: [['amqplib-each', 'settle']],
  };
}

/**
 * @returns {Cell[]}
 */
function quickCells() {
  const empty = emptyCells().filter(({ prefetch }) => prefetch === 250);
  const failing = failingCells().filter(
    ({ queueType, delayMs }) => queueType === 'classic' && delayMs === undefined,
  );
  return [
    ...empty.map((cell) => ({
      ...cell,
      messages: 6000,
      groups: cell.queueType === 'classic' ? CLOSEST : CLOSEST.slice(0, 1),
    })),
    ...failing.map((cell) => ({
      ...cell,
      messages: 500,
      fewer: { 'rascal-retry': 30, 'rascal-dead': 30 },
    })),
  ];
}
