import { describe, expect, it } from 'vitest';
import { costsOf } from '../../../../bench/report/stages.mjs';

const frames: [functionName: string, url: string][] = [
  ['(idle)', ''],
  ['wrapSafe', 'node:internal/modules/cjs/loader'],
  ['decodeJson', 'file:///x/dist/pipeline/decode.js'],
  ['isUtf8', ''],
  ['link', 'file:///x/dist/pipeline/interceptor.js'],
  ['flush', 'file:///x/dist/rabbitmq/acknowledger.js'],
  ['parseFrame', 'file:///x/node_modules/amqplib/lib/frame.js'],
  ['writeBuffer', ''],
  ['(garbage collector)', ''],
  ['anything', 'node:internal/process/task_queues'],
];

function profileOf(indexes: readonly number[], microseconds = 10) {
  return {
    nodes: frames.map(([functionName, url], id) => ({ id, callFrame: { functionName, url } })),
    samples: indexes,
    timeDeltas: indexes.map(() => microseconds),
  };
}

describe('the costs of a message', () => {
  it('are summed by stage and divided by the messages, largest first', () => {
    const costs = costsOf(profileOf([2, 3, 3, 5, 6, 6, 6, 6]), 5);
    expect(costs).toEqual([
      { stage: 'amqplib: frames and dispatch', microseconds: 8 },
      { stage: 'this package: decoding, JSON and the check of UTF-8 included', microseconds: 6 },
      { stage: 'this package: acknowledging and republishing', microseconds: 2 },
    ]);
  });

  it('leave out waiting and loading', () => {
    expect(costsOf(profileOf([0, 1, 1]), 1)).toEqual([]);
  });

  it.each([
    [4, 'this package: the delivery and the chain'],
    [7, 'the system: writing to the socket'],
    [8, 'garbage collector'],
    [9, 'Node: the rest'],
  ])('of stack frame %i belong to a stage', (index, stage) => {
    expect(costsOf(profileOf([index]), 1)).toEqual([{ stage, microseconds: 10 }]);
  });
});
