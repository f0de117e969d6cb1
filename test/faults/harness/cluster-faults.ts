import { eventually } from '../../support/eventually';
import type { OtherServer } from '../../support/other-server';
import type { FaultRun } from './fault-run';
import { allRecovered, type Fault, pause } from './faults';

type Nodes = readonly OtherServer[];

const nameOf = ({ url }: OtherServer): string => `tests-${new URL(url).port}@localhost`;

async function leaderOf(nodes: Nodes, run: FaultRun): Promise<OtherServer> {
  const path = `queues/%2F/${encodeURIComponent(run.queue)}`;
  return eventually(
    async () => {
      const { leader, node } = await run.options.management.http.call('GET', path);
      const found = nodes.find((one) => nameOf(one) === (leader ?? node));
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
    const others = nodes.filter((one) => one !== node).map((one) => `'${nameOf(one)}'`);
    const each = (statement: string): Promise<string> =>
      node.management.ctl('eval', `lists:foreach(fun(N) -> ${statement} end, [${others}]).`);
    await each('erlang:set_cookie(N, other), erlang:disconnect_node(N)');
    await pause(run.options.random.integer(3_000, 8_000));
    await each('erlang:set_cookie(N, erlang:get_cookie())');
    run.fault();
    // RabbitMQ 3.10 takes a node that was partitioned off back as it starts.
    await node.management.restartNode();
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
