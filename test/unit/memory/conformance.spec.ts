import { describe, it } from 'vitest';
import { conformanceScenarios } from '../../../lib/testing';
import { memoryAdapter } from '../../support/memory-adapter';

describe('the broker in memory conforms', () => {
  it.each(conformanceScenarios)('$name', async (scenario) => {
    const adapter = memoryAdapter();
    await scenario.run(adapter);
    await adapter.close();
  });
});
