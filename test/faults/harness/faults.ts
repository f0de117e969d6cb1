import { expect } from 'vitest';
import { basicAck, fromServer } from '../../support/proxy';
import type { FaultRun } from './fault-run';
import type { Service } from './service';

/** One fault, injected into a run under load. Resolves once it is over and the services are back. */
export type Fault = (run: FaultRun) => Promise<void>;

/** `shutdownTimeout` of the services. */
const SHUTDOWN_TIMEOUT = 5_000;
/** What closing channels and connections, and the exit, may take on top. */
const CLOSING_TIME = 2_000;

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until each service begins a run again. */
export async function allRecovered(run: FaultRun, since = Date.now()): Promise<void> {
  await Promise.all(run.running.map((service) => run.recovered(service, since)));
}

/** One of the services, but not the one that is to live on. */
function oneOf(run: FaultRun): Service {
  return run.options.random.pick(run.running.filter((service) => service !== run.survivor));
}

/** Kills one of the services, and starts another one in its place. */
export const kill: Fault = async (run) => {
  run.fault(1);
  const service = oneOf(run);
  service.signal('SIGKILL');
  await service.exit;
  await run.startService().ready();
};

/** Ends one of the services as a deployment does, and starts another one in its place. */
export const terminate: Fault = async (run) => {
  run.fault(0);
  const service = oneOf(run);
  const since = Date.now();
  service.signal('SIGTERM');
  expect(await service.exit, service.report()).toBe(0);
  const took = Date.now() - since;
  run.shutdowns.push(took);
  expect(took, 'shutdown takes at most shutdownTimeout').toBeLessThan(
    SHUTDOWN_TIMEOUT + CLOSING_TIME,
  );
  await run.startService().ready();
};

/** The server closes every connection of the services. */
export const closeConnections: Fault = async (run) => {
  run.fault();
  const since = Date.now();
  await run.options.management.closeConnections(({ user }) => user === run.queue);
  await allRecovered(run, since);
};

/** Every TCP connection of the services is cut. */
export const cut: Fault = async (run) => {
  run.fault();
  const since = Date.now();
  run.options.proxy.cutAll();
  await allRecovered(run, since);
};

/** Nothing passes for a while, which is shorter than the heartbeat allows. */
export const stall: Fault = async (run) => {
  run.fault();
  const { proxy, random } = run.options;
  proxy.pause();
  await pause(random.integer(500, 1_500));
  proxy.resume();
  await allRecovered(run);
};

/** Nothing passes for longer than the heartbeat allows, in one direction or both; then new connections do. */
export const halfOpen: Fault = async (run) => {
  run.fault();
  const { proxy, random, heartbeatSeconds = 5 } = run.options;
  proxy.pause(random.pick(['client', 'server', undefined]));
  await pause(heartbeatSeconds * 2_500);
  proxy.cutAll();
  proxy.resume();
  await allRecovered(run);
};

/** An acknowledgement of an unknown tag: the server closes the channel. */
export const unknownTag: Fault = async (run) => {
  run.fault();
  const { proxy } = run.options;
  const since = Date.now();
  for (const connection of proxy.openConnections) {
    proxy.inject('client', connection, [basicAck(1, 1_000_000_000)]);
  }
  await allRecovered(run, since);
};

/** The server keeps its confirms back for a while. */
export const holdConfirms: Fault = async (run) => {
  run.fault();
  const { proxy, random } = run.options;
  const hold = proxy.hold(fromServer('basic.ack'), { onlyMatching: true });
  await pause(random.integer(500, 2_500));
  hold.release();
  await allRecovered(run);
};

/** One of the services stands still for longer than the heartbeat allows. */
export const block: Fault = async (run) => {
  run.fault(1);
  const { heartbeatSeconds = 5 } = run.options;
  const service = oneOf(run);
  service.block(heartbeatSeconds * 2_500);
  await pause(heartbeatSeconds * 2_500);
  await run.recovered(service);
};

/** The links are cut again and again while a service starts. */
export const cutsAtStartup: Fault = async (run) => {
  const service = run.startService();
  for (let cuts = 0; cuts < 5 && !service.isReady; cuts += 1) {
    await pause(run.options.random.integer(300, 600));
    run.fault();
    run.options.proxy.cutAll();
  }
  await service.ready();
  await allRecovered(run);
};

/** The links are cut while a service shuts down. */
export const cutAtShutdown: Fault = async (run) => {
  run.fault();
  const { proxy, random } = run.options;
  const service = oneOf(run);
  service.signal('SIGTERM');
  await pause(random.integer(0, 40));
  proxy.cutAll();
  expect(await service.exit, service.report()).toBe(0);
  await run.startService().ready();
};
