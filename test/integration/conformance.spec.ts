import { describe, it } from 'vitest';
import { conformanceScenarios } from '../conformance';
import { rabbitAdapter } from '../support/rabbitmq-adapter';

describe('the RabbitMQ adapter', () => {
  for (const scenario of conformanceScenarios) {
    it(scenario.name, async () => {
      const adapter = await rabbitAdapter();
      try {
        await scenario.run(adapter);
      } finally {
        await adapter.close();
      }
    });
  }
});
