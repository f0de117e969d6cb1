import type { ApplicationDescription } from '../description/description';

/**
 * The description of an application that is created, not started, and connects to nothing.
 * @throws RangeError if `rabbitmq` is not a version.
 */
export async function describedApplication(
  reference: string,
  rabbitmq: string,
): Promise<ApplicationDescription> {
  const [{ versionOf }, { describeConsumers }, { plannedConsumers }] = await Promise.all([
    import('../amqp/queue-declarations.js'),
    import('../description/describe.js'),
    import('./application.js'),
  ]);
  const version = versionOf(rabbitmq);
  return describeConsumers(await plannedConsumers(reference, { connects: false }), version);
}
