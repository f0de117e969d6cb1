import type { ConformanceScenario } from './adapter';
import { copyingScenarios } from './copying';
import { settlingScenarios } from './settling';
import { topologyScenarios } from './topology';

/**
 * What every adapter of the broker port does, as RabbitMQ does it. For each scenario: open a fresh adapter,
 * `run` it, close it; a rejection is a failure.
 * @publicApi
 */
export const conformanceScenarios: readonly ConformanceScenario[] = [
  ...settlingScenarios,
  ...copyingScenarios,
  ...topologyScenarios,
];
