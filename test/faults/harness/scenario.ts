import { expect, onTestFinished } from 'vitest';
import { management, url } from '../../support/broker';
import { openProxy } from '../../support/proxied';
import type { Account } from './account';
import { FaultRun, type FaultRunOptions } from './fault-run';
import type { Fault } from './faults';
import { Random, seedOfRun } from './random';

/** Whether each scenario is run in full. */
export const isFull: boolean = process.env['FAULTS'] === 'full';

/** What a scenario knows by itself. */
type Known = 'serverUrl' | 'management' | 'proxy' | 'random';

export interface ScenarioOptions
  extends Omit<FaultRunOptions, Known>,
    Partial<Pick<FaultRunOptions, Known>> {
  readonly faults: readonly Fault[];
  /** How often each fault is injected; `repeats` times as often in full. */
  readonly times?: number;
  /** 5 by default. */
  readonly repeats?: number;
}

/** What a scenario ended with. */
export interface Ended {
  readonly run: FaultRun;
  readonly account: Account;
}

/** Injects faults at random moments under load and draws up the account, in which nothing is missing. */
export async function scenario({
  faults,
  times = 1,
  repeats = 5,
  ...options
}: ScenarioOptions): Promise<Ended> {
  const seed = seedOfRun();
  const random = new Random(seed);
  const proxy = options.proxy ?? (await openProxy());
  proxy.recording = false;
  const run = new FaultRun({ serverUrl: url, management, random, proxy, ...options });
  onTestFinished(() => run.kill());
  await run.start();
  for (let round = 0; round < (isFull ? times * repeats : times); round += 1) {
    for (const fault of faults) {
      await new Promise((resolve) => setTimeout(resolve, random.integer(50, 600)));
      await fault(run);
    }
  }
  const account = await run.finish();
  console.log(figures(run, account));
  expectNothingLost(run, account, seed);
  return { run, account };
}

/** Fails with the seed where a message is lost or stuck, or a duplicate has no cause. */
export function expectNothingLost(run: FaultRun, account: Account, seed: number): void {
  const { lost, stuck, unexplained } = account;
  const { problems } = run;
  const runsOf = (n: number): string => `message ${n}: ${JSON.stringify(run.ledger.of(n))}`;
  const found = [...lost.slice(0, 20).map(runsOf), ...run.services.map((one) => one.report())];
  expect(
    { lost, stuck, unexplained, problems },
    [`FAULTS_SEED=${seed}`, ...found].join('\n'),
  ).toEqual({
    lost: [],
    stuck: [],
    unexplained: 0,
    problems: [],
  });
  expect(account.succeeded, 'messages have been handled').toBeGreaterThan(0);
}

/** The value below which so many of these lie; 0 if there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

/** The figures of a run, in one line. */
export function figures(run: FaultRun, account: Account): string {
  const { name, queueType, random } = run.options;
  const { confirmed, runs, deadLettered, lost, stuck, duplicates } = account;
  const slowest = Math.max(0, ...run.recoveries);
  const shutdowns =
    run.shutdowns.length > 0 ? `, shut down after ${Math.max(...run.shutdowns)} ms at most` : '';
  return (
    `${name}, ${queueType}: seed ${random.seed}, ${run.faults} faults, ${confirmed} messages, ${runs} runs, ` +
    `${deadLettered} dead-lettered, ${lost.length} lost, ${stuck.length} stuck, ${duplicates} duplicates, ` +
    `back after ${slowest} ms at most${shutdowns}`
  );
}
