import type { TestProject } from 'vitest/node';
import { findServer, type ServerDescription } from './server/find-server.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    rabbitmq: ServerDescription;
  }
}

/** Finds or starts the RabbitMQ server of a test run, and ends it when the run is over. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await findServer({ log: (line) => process.stderr.write(`${line}\n`) });
  project.provide('rabbitmq', server.describe());
  return () => server.stop();
}
