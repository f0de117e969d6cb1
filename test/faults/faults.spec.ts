import { describe, it } from 'vitest';
import { useCompiledFixtures } from '../support/process/compiled';
import {
  crash,
  deleteDeadLetterQueue,
  deleteQueue,
  deleteWaitingQueues,
  fullDeadLetterQueue,
  fullQueue,
  memoryAlarm,
  noPermissions,
  restart,
} from './harness/broker-faults';
import {
  block,
  closeConnections,
  cut,
  cutAtShutdown,
  cutsAtStartup,
  type Fault,
  halfOpen,
  holdConfirms,
  kill,
  stall,
  terminate,
  unknownTag,
} from './harness/faults';
import { isFull, type ScenarioOptions, scenario } from './harness/scenario';

describe.each(['classic', 'quorum'] as const)('on a %s queue, nothing is lost', (queueType) => {
  const fixtures = useCompiledFixtures();

  async function survives(
    name: string,
    faults: readonly Fault[],
    options: Partial<ScenarioOptions> = {},
  ): Promise<void> {
    await scenario({ name, path: fixtures.pathOf('mixed-load'), queueType, faults, ...options });
  }

  // On one of the queue types only, unless all is run in full.
  const inFull = queueType === 'quorum' || isFull ? it : () => undefined;

  it('when services are killed and terminated', async () => {
    await survives('processes', [kill, terminate]);
  });

  it('when connections are closed, cut and stalled, channels are closed, confirms are held back', async () => {
    const faults = [closeConnections, cut, stall, unknownTag, holdConfirms];
    await survives('links', faults, { times: 2 });
  });

  inFull('when links are cut during startup and shutdown', async () => {
    await survives('borders', [cutsAtStartup, cutAtShutdown]);
  });

  it('when the heartbeat fails: the link is half-open, or the event loop is blocked', async () => {
    await survives('heartbeat', [halfOpen, block], { heartbeatSeconds: 1 });
  });

  it('when queues are deleted, but for what they held', async () => {
    await survives('deleted', [deleteQueue, deleteWaitingQueues, deleteDeadLetterQueue]);
  });

  it('when queues are full, permissions are taken away, and the broker runs out of memory', async () => {
    // A classic queue that is full loses retries that come back from a waiting queue, as documented.
    const faults = [fullDeadLetterQueue, noPermissions, memoryAlarm];
    await survives('broker', queueType === 'quorum' ? [fullQueue, ...faults] : faults);
  });

  inFull('when the broker is restarted, or crashes', async () => {
    await survives('restart', isFull ? [restart, crash] : [crash]);
  });
});
