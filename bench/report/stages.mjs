// @ts-check
/**
 * A profile as `--cpu-prof` writes it, as far as it is read here.
 *
 * @typedef {object} Profile
 * @property {ReadonlyArray<{ id: number, callFrame: { functionName: string, url: string } }>} nodes
 * @property {readonly number[]} samples
 * @property {readonly number[]} timeDeltas
 */

/**
 * Where time is spent, by file or by function; the first that matches. What stands before the first message, loading
 * and compiling, is left out, and so is waiting.
 *
 * @type {ReadonlyArray<readonly [RegExp, string | undefined]>}
 */
const stages = [
  [
    /^\((idle|root)\)|node:internal\/(modules|bootstrap|deps|vm|fs|process\/(pre|esm))|^(wrapSafe|compileFunction|internalModuleStat|readFileUtf8|readPackageJSON)/,
    undefined,
  ],
  [
    /node_modules\/(@nestjs|reflect-metadata|iterare|uid|path-to-regexp)\/|node:(fs|path|util)/,
    undefined,
  ],
  [/^\(garbage collector\)/, 'garbage collector'],
  [
    /dist\/pipeline\/decode|^isUtf8|^utf8Slice/,
    'this package: decoding, JSON and the check of UTF-8 included',
  ],
  [/dist\/(delivery|nest|pipeline)\//, 'this package: the delivery and the chain'],
  [/dist\/model\/|node:async_hooks|errorContext/, 'this package: outcomes and andAfter'],
  [/dist\/settlement\//, 'this package: settlement'],
  [/dist\/(amqp|rabbitmq)\//, 'this package: acknowledging and republishing'],
  [/dist\/|node:internal\/timers|node:timers/, 'this package: the rest, timers included'],
  [/node_modules\/rxjs\//, 'rxjs: the listener of the settlement stream'],
  [/node_modules\/@golevelup\//, 'golevelup'],
  [/node_modules\/amqplib\//, 'amqplib: frames and dispatch'],
  [/^(writeBuffer|writev|writeUtf8String)/, 'the system: writing to the socket'],
  [/node:(net|stream|events)|node:internal\/(stream|streams|event)/, 'Node: streams and sockets'],
  [/node:(buffer|internal\/buffer)|^(utf8Write|slice|copy|toString)/, 'Node: buffers'],
  [/bench\/programs\//, 'the handler'],
];

/**
 * The processor time of a message, stage by stage, the greatest first.
 *
 * @param {Profile} profile
 * @param {number} messages
 * @returns {Array<{ stage: string, microseconds: number }>}
 */
export function costsOf({ nodes, samples, timeDeltas }, messages) {
  const stageOf = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [
      id,
      stageNamed(`${functionName} ${url}`),
    ]),
  );
  /** @type {Map<string, number>} */
  const sums = new Map();
  samples.forEach((id, index) => {
    const stage = stageOf.get(id);
    if (stage !== undefined) sums.set(stage, (sums.get(stage) ?? 0) + (timeDeltas[index] ?? 0));
  });
  return [...sums]
    .map(([stage, total]) => ({ stage, microseconds: total / messages }))
    .sort((one, other) => other.microseconds - one.microseconds);
}

/**
 * @param {string} place the function, a space and the file
 * @returns {string | undefined}
 */
function stageNamed(place) {
  const found = stages.find(([pattern]) => pattern.test(place));
  return found === undefined ? 'Node: the rest' : found[1];
}
