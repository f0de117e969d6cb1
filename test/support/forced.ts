import { afterAll } from 'vitest';
import { Broker, management, withoutNagle } from './broker';
import { eventually, until } from './eventually';

/** The management API of the server of this run; fails if there is none. */
export function managed(): NonNullable<typeof management> {
  if (management === undefined) throw new Error('this needs a server with the management plugin');
  return management;
}

/** The options of a connection that the management API lists by a name. */
export function connectionNamed(name: string): object {
  return {
    reconnectTimeInSeconds: 0.3,
    heartbeatIntervalInSeconds: 5,
    connectionOptions: { ...withoutNagle, clientProperties: { connection_name: name } },
  };
}

/** Closes the connections of a name, as an administrator does, and waits until they are closed. */
export async function killConnections(name: string): Promise<void> {
  const isMeant = ({ givenName }: { givenName?: string }): boolean => givenName === name;
  await until(async () => (await managed().connections()).some(isMeant), {
    what: `a connection named ${name}`,
  });
  await managed().closeConnections(isMeant);
}

/** Waits until a queue has no messages, ready or unacknowledged, and so many consumers. */
export async function waitForEmpty(queue: string, consumers = 1): Promise<void> {
  await eventually(async () => {
    const listed = (await managed().queues()).find(({ name }) => name === queue);
    const { messages_ready, messages_unacknowledged } = listed ?? {};
    const now = await consumersOf(queue);
    const seen = `${messages_ready} ready, ${messages_unacknowledged} unacknowledged, ${now} consumers`;
    if (seen !== `0 ready, 0 unacknowledged, ${consumers} consumers`) {
      throw new Error(`queue "${queue}": ${seen}`);
    }
  });
}

let asking: Promise<Broker> | undefined;
afterAll(forgetAsking);

// The management API lists consumers with a delay of up to a second; a declaration returns the current number.
async function consumersOf(queue: string): Promise<number> {
  asking ??= Broker.connect();
  try {
    return await (await asking).consumers(queue);
  } catch (error) {
    await forgetAsking(); // The broker may have been restarted.
    throw error;
  }
}

async function forgetAsking(): Promise<void> {
  const broker = asking;
  asking = undefined;
  await (await broker?.catch(() => undefined))?.close();
}
