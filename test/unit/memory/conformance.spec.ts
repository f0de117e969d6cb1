import { describe, it } from 'vitest';
import { conformanceScenarios } from '../../conformance';
import { memoryAdapter } from '../../support/memory-adapter';

describe.each([
  [3, 10],
  [4, 0],
  [4, 3],
] as const)('the in-memory broker conforms as version %i.%i', (...version) => {
  for (const scenario of conformanceScenarios) {
    it(scenario.name, async () => {
      const adapter = memoryAdapter(version);
      await scenario.run(adapter);
      await adapter.close();
    });
  }
});
