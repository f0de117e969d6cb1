import type { ConformanceScenario } from './adapter';
import { copyingScenarios } from './copying';
import { carbonScenarios, deadLetteringScenarios, limitScenarios } from './dead-lettering';
import { fieldScenarios } from './fields';
import { orderingScenarios } from './ordering';
import { refusingScenarios } from './refusing';
import { routingScenarios } from './routing';
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
  ...refusingScenarios,
  ...routingScenarios,
  ...orderingScenarios,
  ...deadLetteringScenarios,
  ...limitScenarios,
  ...carbonScenarios,
  ...fieldScenarios,
];
