import type { TestProject } from 'vitest/node';
import { findServer, type ServerDescription } from './server/find-server.mjs';

declare module 'vitest' {
  export interface ProvidedContext {
    rabbitmq: ServerDescription;
  }
}

/**
 * Finds or starts the RabbitMQ server of a test run, and ends it when the run is over. A server that
 * `RABBITMQ_TEST_SERVER` describes belongs to the process that started the run.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const lent = process.env['RABBITMQ_TEST_SERVER'];
  if (lent) {
    project.provide('rabbitmq', JSON.parse(lent));
    return async () => {};
  }
  const server = await findServer({ log: (line) => process.stderr.write(`${line}\n`) });
  project.provide('rabbitmq', server.describe());
  return () => server.stop();
}
