import { AbstractHttpAdapter, NestFactory } from '@nestjs/core';
import type { BrokerConnection } from '../amqp/connection';
import { consumersOf, type PlannedConsumer } from '../lifecycle/planned-consumers';
import { SubscriptionPlanner } from '../lifecycle/planner';
import { texts } from '../log/texts';
import { neverConnect, neverDeclare } from '../rabbitmq/offline';
import { loadModule } from './module-reference';

/**
 * The consumers of an application that is created and not started: its providers exist, no lifecycle hook
 * runs, nothing is consumed or declared. The process is to exit afterwards.
 * @param reference the root module: `./dist/app.module.js#AppModule`.
 * @param connects whether the connections are opened.
 * @throws Error if the application can't be created or its subscriptions have faults.
 */
export async function plannedConsumers(
  reference: string,
  { connects }: { readonly connects: boolean },
): Promise<readonly PlannedConsumer[]> {
  if (connects) neverDeclare();
  else neverConnect();
  const module = await loadModule(reference);
  const application = await NestFactory.create(module, withoutServer(), {
    logger: false,
    abortOnError: false,
  });
  let planner: SubscriptionPlanner;
  try {
    planner = application.get(SubscriptionPlanner, { strict: false });
  } catch {
    throw new Error(texts.noSettleModule(reference));
  }
  return consumersOf(planner.plan().planned);
}

/** The connections of consumers, each once. */
export function connectionsOf(consumers: readonly PlannedConsumer[]): readonly BrokerConnection[] {
  return [...new Set(consumers.map(({ connection }) => connection))];
}

// An application context would start at once; a web application waits for `init`, and needs no more than this
// of a server before.
function withoutServer(): AbstractHttpAdapter {
  return Object.assign(Object.create(AbstractHttpAdapter.prototype) as AbstractHttpAdapter, {
    initHttpServer: () => undefined,
    getHttpServer: () => ({}),
    getType: () => 'none',
  });
}
