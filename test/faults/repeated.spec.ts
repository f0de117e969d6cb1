import { describe, expect, it } from 'vitest';
import { management } from '../support/broker';
import { eventually } from '../support/eventually';
import { useCompiledFixtures } from '../support/process/compiled';
import type { FaultRun } from './harness/fault-run';
import { cut, type Fault, pause, terminate } from './harness/faults';
import { isFull, type ScenarioOptions, scenario } from './harness/scenario';

/** How often in the short form, and in full on each queue type. */
const TIMES = isFull ? 100 : 3;

/** A fault so many times, each at a random moment. */
function repeated(fault: Fault): Fault {
  return async (run) => {
    for (let count = 0; count < TIMES; count += 1) {
      await pause(run.options.random.integer(0, 300));
      await fault(run);
    }
  };
}

/** Fails unless the queue has exactly one consumer. */
async function hasOneConsumer({ queue }: FaultRun): Promise<void> {
  await eventually(async () => {
    const consumers = (await management.consumers()).filter((one) => one.queue === queue);
    expect(consumers).toHaveLength(1);
  });
}

describe.each(['classic', 'quorum'] as const)('on a %s queue', (queueType) => {
  const fixtures = useCompiledFixtures();

  async function survives(options: Pick<ScenarioOptions, 'name' | 'faults' | 'instances'>) {
    const path = fixtures.pathOf('mixed-load');
    return scenario({ path, queueType, repeats: 1, ...options });
  }

  it('shutdowns under load end within shutdownTimeout, with nothing half done and no duplicate', async () => {
    // `terminate` fails on a late exit, and the account on any duplicate: nothing is in flight at a shutdown.
    const { run, account } = await survives({ name: 'shutdowns', faults: [repeated(terminate)] });
    expect(run.shutdowns).toHaveLength(TIMES);
    expect(account.duplicates).toBe(0);
  });

  it('reconnects leave exactly one consumer each time, and no listener', async () => {
    const reconnect: Fault = async (run) => {
      await cut(run);
      await hasOneConsumer(run);
    };
    const sampled: Fault = async (run) => {
      const [service] = run.services;
      await cut(run);
      const before = await service?.sample();
      await repeated(reconnect)(run);
      const after = await service?.sample();
      expect(after?.listeners).toBe(before?.listeners);
      expect(after?.listeners).toBeGreaterThan(0);
    };
    await survives({ name: 'reconnects', faults: [sampled], instances: 1 });
  });
});
