import { afterAll, expect } from 'vitest';
import { Broker, url } from './broker';
import { findServer, startNodeBeside } from './server/find-server.mjs';
import type { Management } from './server/management.mjs';
import type { RabbitServer } from './server/rabbit-server.mjs';

/** A server beside that of the test run, and a raw connection to it. */
export interface OtherServer {
  readonly url: string;
  readonly broker: Broker;
  readonly management: Management;
}

/** Starts a server of the same release that is no cluster with that of the test run; ended after the file. */
export async function openOtherServer(): Promise<OtherServer> {
  const server = await findServer();
  afterAll(() => server.stop());
  // RABBITMQ_URL names one server, which can't be another one as well.
  expect(server.url, 'this test needs two servers of its own').not.toBe(url);
  return connectedTo(server);
}

/** Starts a cluster of three nodes of the release of this test run; ended after the file. */
export async function openCluster(): Promise<readonly OtherServer[]> {
  const first = await findServer();
  afterAll(() => first.stop());
  const others = await Promise.all([startNodeBeside(first), startNodeBeside(first)]);
  for (const { management, stop } of others) {
    afterAll(stop);
    await management?.ctl('stop_app');
    await management?.ctl('join_cluster', nodeNameOf(first));
    await management?.ctl('start_app');
  }
  return Promise.all([first, ...others].map(connectedTo));
}

/**
 * Partitions a node off from the others of its cluster. Resolves with a function that ends the partition: RabbitMQ 3.10
 * takes the node back as it starts, so it is restarted.
 */
export async function partitionOff(
  node: OtherServer,
  nodes: readonly OtherServer[],
): Promise<() => Promise<void>> {
  const others = nodes.filter((one) => one !== node).map((one) => `'${nodeNameOf(one)}'`);
  const each = (statement: string): Promise<string> =>
    node.management.ctl('eval', `lists:foreach(fun(N) -> ${statement} end, [${others}]).`);
  await each('erlang:set_cookie(N, other), erlang:disconnect_node(N)');
  return async () => {
    await each('erlang:set_cookie(N, erlang:get_cookie())');
    await node.management.restartNode();
  };
}

/** The name of a node that a test has started. */
export function nodeNameOf({ url: address }: Pick<OtherServer, 'url'>): string {
  return `tests-${new URL(address).port}@localhost`;
}

async function connectedTo({ url: address, management }: RabbitServer): Promise<OtherServer> {
  if (management === undefined) throw new Error('this test needs servers that it starts itself');
  const broker = await Broker.connect(address);
  afterAll(() => broker.close());
  return { url: address, broker, management };
}
