import { expect, it } from 'vitest';
import { management, url } from '../support/broker';
import { useCompiledFixtures } from '../support/process/compiled';
import { AmqpProxy } from '../support/proxy';
import {
  crash,
  fullDeadLetterQueue,
  fullQueue,
  memoryAlarm,
  noPermissions,
  restart,
} from './harness/broker-faults';
import { FaultRun } from './harness/fault-run';
import {
  block,
  closeConnections,
  cut,
  cutAtShutdown,
  type Fault,
  halfOpen,
  holdConfirms,
  kill,
  stall,
  terminate,
  unknownTag,
} from './harness/faults';
import { Random, seedOfRun } from './harness/random';
import { expectNothingLost, figures, percentile } from './harness/scenario';

/** Faults with how often each is drawn; those that take long are rare. */
const FAULTS: readonly (readonly [Fault, number])[] = [
  [closeConnections, 20],
  [cut, 30],
  [stall, 10],
  [unknownTag, 10],
  [holdConfirms, 10],
  [kill, 10],
  [terminate, 4],
  [cutAtShutdown, 2],
  [fullDeadLetterQueue, 4],
  [fullQueue, 3],
  [noPermissions, 3],
  [memoryAlarm, 2],
  [halfOpen, 1],
  [block, 1],
  [restart, 1],
  [crash, 1],
];
const DRAWN = FAULTS.flatMap(([fault, weight]) => Array<Fault>(weight).fill(fault));

const DURATION = durationOf(process.env['FAULTS_DURATION'] ?? '10m');
const RATE = Number(process.env['FAULTS_RATE'] ?? 1_800);
/** Before the first sample of memory: what is loaded and compiled lazily is there then. */
const WARM_UP = Math.min(30_000, DURATION / 4);

function durationOf(text: string): number {
  const [, count, unit = ''] = /^(\d+)(s|m|h)$/.exec(text) ?? [];
  const ms = { s: 1_000, m: 60_000, h: 3_600_000 }[unit];
  if (ms === undefined) throw new Error(`a duration is 90s, 10m or 1h, not ${text}`);
  return Number(count) * ms;
}

const fixtures = useCompiledFixtures();

it('loses nothing in a long run with random faults', { timeout: DURATION + 600_000 }, async () => {
  const seed = seedOfRun();
  const random = new Random(seed);
  console.log(`seed ${seed}, ${DURATION / 1_000} s, ${RATE} messages a second`);
  const proxy = await AmqpProxy.start(url);
  proxy.recording = false;
  const run = new FaultRun({
    name: 'soak',
    path: fixtures.pathOf('mixed-load'),
    queueType: 'quorum',
    serverUrl: url,
    management,
    proxy,
    random,
    instances: 3,
    prefetch: 100,
    attempts: 1_000,
    heartbeatSeconds: 2,
    rate: RATE,
    longestWork: 5,
  });
  try {
    await run.start();
    const [survivor] = run.services;
    run.survivor = survivor;
    const end = Date.now() + DURATION;
    await new Promise((resolve) => setTimeout(resolve, WARM_UP));
    await survivor?.sample();
    while (Date.now() < end) {
      await random.pick(DRAWN)(run);
      await survivor?.sample();
    }
    await run.rest();
    await survivor?.sample();
    const account = await run.finish();
    const samples = survivor?.samples ?? [];
    const [first, last] = [samples[0], samples.at(-1)];
    console.log(figures(run, account));
    console.log(
      `back after a fault: p50 ${percentile(run.recoveries, 0.5)} ms, p99 ${percentile(run.recoveries, 0.99)} ms; ` +
        `heap ${first?.heapUsed} to ${last?.heapUsed} bytes, listeners ${first?.listeners} to ${last?.listeners}`,
    );
    expectNothingLost(run, account, seed);
    expect(last?.listeners).toBe(first?.listeners);
    expect((last?.heapUsed ?? 0) / (first?.heapUsed ?? 1)).toBeLessThan(1.1);
  } finally {
    run.kill();
    await proxy.stop();
  }
});
