import { describe, it } from 'vitest';
import { openCluster } from '../support/other-server';
import { useCompiledFixtures } from '../support/process/compiled';
import { openProxy } from '../support/proxied';
import { killLeader, partition, rollingRestart } from './harness/cluster-faults';
import { scenario } from './harness/scenario';

describe('on a quorum queue of a cluster of three nodes, nothing is lost', async () => {
  const nodes = await openCluster();
  const fixtures = useCompiledFixtures();

  it.each([
    ['when the leader of the queue is killed', killLeader],
    ['when a node is partitioned off', partition],
    ['when the nodes are restarted one after the other', rollingRestart],
  ])('%s', async (_name, fault) => {
    const [first] = nodes;
    if (first === undefined) throw new Error('a cluster has several nodes');
    await scenario({
      name: 'cluster',
      path: fixtures.pathOf('mixed-load'),
      queueType: 'quorum',
      serverUrl: first.url,
      management: first.management,
      proxy: await openProxy(first.url),
      urls: nodes.map(({ url }) => url),
      instances: 3,
      faults: [fault(nodes)],
      // The publishes of the load go through one node; it is as often down as the others.
      patienceMs: 120_000,
    });
  });
});
