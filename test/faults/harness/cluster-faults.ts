import { eventually } from '../../support/eventually';
import { nodeNameOf, type OtherServer, partitionOff } from '../../support/other-server';
import type { FaultRun } from './fault-run';
import { allRecovered, type Fault, pause } from './faults';

type Nodes = readonly OtherServer[];

async function leaderOf(nodes: Nodes, run: FaultRun): Promise<OtherServer> {
  const path = `queues/%2F/${encodeURIComponent(run.queue)}`;
  return eventually(
    async () => {
      const { leader, node } = await run.options.management.http.call('GET', path);
      const found = nodes.find((one) => nodeNameOf(one) === (leader ?? node));
      if (found === undefined) throw new Error(`no node leads the queue: ${leader}`);
      return found;
    },
    { timeoutMs: 30_000 },
  );
}

/** The node that leads the queue crashes, and is started again. */
export const killLeader =
  (nodes: Nodes): Fault =>
  async (run) => {
    const leader = await leaderOf(nodes, run);
    run.fault();
    const since = Date.now();
    await leader.management.killNode();
    await allRecovered(run, since);
    await leader.management.startNode();
  };

/** A node loses its links to the other two, and gets them back. */
export const partition =
  (nodes: Nodes): Fault =>
  async (run) => {
    run.fault();
    const node = run.options.random.pick(nodes);
    const endPartition = await partitionOff(node, nodes);
    await pause(run.options.random.integer(3_000, 8_000));
    run.fault();
    await endPartition();
    await allRecovered(run);
  };

/** Each node is restarted, one after the other. */
export const rollingRestart =
  (nodes: Nodes): Fault =>
  async (run) => {
    for (const node of nodes) {
      run.fault();
      await node.management.restartNode();
      await allRecovered(run);
    }
  };
